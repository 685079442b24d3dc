// The part of the page's script that reads the recording and draws it.

extension TimelinePage {
    static let drawing = #"""
        "use strict";
        const data = JSON.parse(document.getElementById("recording").textContent);
        const byID = id => document.getElementById(id), canvas = byID("timeline"), draw = canvas.getContext("2d");
        const START = 0, LENGTH = 1, DEPTH = 2, KIND = 3, TITLE = 4, PLACE = 5, WAIT = 6, FLOW = 7, REST = 8;
        const axis = 24, row = 16, gap = 12;
        const view = { from: 0, to: data.length };
        let chosen = null, gutter = 150;

        // Places the threads one below another, and finds the two items that each arrow connects.
        const flows = new Map();
        let height = axis;
        for (const thread of data.threads) {
          thread.rows = 1;
          thread.top = height;
          for (const item of thread.items) {
            item.thread = thread;
            thread.rows = Math.max(thread.rows, item[DEPTH] + 1);
            if (item[FLOW]) {
              const flow = flows.get(item[FLOW]) || { from: null, to: [] };
              if (item[LENGTH] < 0) flow.from = item; else flow.to.push(item);
              flows.set(item[FLOW], flow);
            }
          }
          height += thread.rows * row + gap + 6;
        }
        height = Math.max(height, axis + 40);

        const time = ns => {
          const size = Math.abs(ns);
          if (size >= 1e9) return (ns / 1e9).toPrecision(4) + " s";
          if (size >= 1e6) return (ns / 1e6).toPrecision(4) + " ms";
          if (size >= 1e3) return (ns / 1e3).toPrecision(4) + " µs";
          return ns === 0 ? "0" : ns + " ns";
        };
        const threshold = () => Math.max(0, Number(byID("threshold").value) || 0) * 1e6;
        const isHandler = item => item[PLACE] >= 0;
        const isSlow = item => isHandler(item) && item[LENGTH] >= threshold();
        const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
        const x = ns => gutter + (ns - view.from) / (view.to - view.from) * (canvas.clientWidth - gutter);
        const y = item => item.thread.top + 4 + item[DEPTH] * row;

        function paint() {
          const width = canvas.clientWidth, scale = devicePixelRatio || 1;
          gutter = Math.min(150, width * 0.28);
          canvas.style.height = height + "px";
          canvas.width = width * scale;
          canvas.height = height * scale;
          draw.setTransform(scale, 0, 0, scale, 0, 0);
          const colours = {};
          for (const name of ["back", "text", "quiet", "line", "run", "handler", "slow", "sleep", "wait", "other", "mark", "arrow"])
            colours[name] = colour(name);
          draw.fillStyle = colours.back;
          draw.fillRect(0, 0, width, height);
          draw.font = "12px system-ui, sans-serif";
          draw.textBaseline = "middle";
          paintAxis(width, colours);
          for (const thread of data.threads) paintThread(thread, width, colours);
          paintArrows(width, colours);
        }

        function paintAxis(width, colours) {
          const span = view.to - view.from, most = Math.max(1, Math.floor((width - gutter) / 110));
          let step = Math.pow(10, Math.floor(Math.log10(span / most)));
          while (span / step > most) step *= span / step / most > 2.5 ? 5 : 2;
          draw.fillStyle = colours.quiet;
          draw.strokeStyle = colours.line;
          draw.textAlign = "left";
          for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
            const at = Math.round(x(tick)) + 0.5;
            draw.beginPath();
            draw.moveTo(at, axis - 4);
            draw.lineTo(at, height);
            draw.stroke();
            if (at + 70 < width) draw.fillText(time(Math.round(tick)), at + 3, axis / 2);
          }
        }

        function kindColour(item, colours) {
          const kind = data.texts[item[KIND]];
          if (isHandler(item)) return isSlow(item) ? colours.slow : colours.handler;
          if (kind === "run") return colours.run;
          if (kind === "sleep") return colours.sleep;
          if (kind === "wait" || kind === "full port") return colours.wait;
          if (item[LENGTH] < 0 || kind === "interval") return colours.mark;
          return colours.other;
        }

        function paintThread(thread, width, colours) {
          draw.save();
          draw.beginPath();
          draw.rect(gutter, thread.top, width - gutter, thread.rows * row + gap);
          draw.clip();
          const drawnTo = [];
          for (const item of thread.items) {
            if (item[START] > view.to) break;
            const end = item[START] + Math.max(0, item[LENGTH]);
            if (end < view.from) continue;
            const from = x(item[START]), length = Math.max(1, x(end) - from), top = y(item);
            draw.fillStyle = kindColour(item, colours);
            if (item[LENGTH] < 0) {
              draw.beginPath();
              draw.moveTo(from, top + 3);
              draw.lineTo(from + 4, top + row / 2);
              draw.lineTo(from, top + row - 3);
              draw.lineTo(from - 4, top + row / 2);
              draw.fill();
              continue;
            }
            // Of the slices that are at most a pixel wide, only the first in each pixel is painted, except that a slow slice is
            // always painted.
            if (length <= 1 && drawnTo[item[DEPTH]] >= from + 0.5 && !isSlow(item)) continue;
            drawnTo[item[DEPTH]] = from + length;
            draw.fillRect(from, top, length, row - 2);
            if (item === chosen) {
              draw.strokeStyle = colours.text;
              draw.strokeRect(from + 0.5, top + 0.5, Math.max(2, length - 1), row - 3);
            }
            const seen = Math.min(from + length, width) - Math.max(from, gutter);
            if (seen > 50) label(item, Math.max(from, gutter) + 4, top + row / 2 - 1, seen - 8, colours);
          }
          draw.restore();
          draw.fillStyle = colours.text;
          draw.textAlign = "left";
          draw.fillText(fitted(thread.name || "thread " + thread.id, gutter - 14), 8, thread.top + 12);
          if (thread.rows > 1) {
            draw.fillStyle = colours.quiet;
            draw.fillText(fitted((thread.id ? thread.id + " " : "") + thread.state, gutter - 14), 8, thread.top + 27);
          }
          draw.strokeStyle = colours.line;
          draw.beginPath();
          draw.moveTo(0, thread.top - 3.5);
          draw.lineTo(width, thread.top - 3.5);
          draw.stroke();
        }

        function fitted(text, width) {
          if (draw.measureText(text).width <= width) return text;
          while (text.length > 1 && draw.measureText(text + "…").width > width) text = text.slice(0, -1);
          return text + "…";
        }

        function label(item, at, middle, width, colours) {
          const kind = data.texts[item[KIND]];
          draw.fillStyle = kind === "run" || kind === "sleep" ? colours.text : kind === "wait" ? "#1d2329" : colours.back;
          draw.textAlign = "left";
          draw.fillText(fitted(data.texts[item[TITLE]], width), at, middle);
        }

        function paintArrows(width, colours) {
          draw.save();
          draw.beginPath();
          draw.rect(gutter, axis, width - gutter, height);
          draw.clip();
          draw.strokeStyle = colours.arrow;
          let painted = 0;
          for (const flow of flows.values()) {
            if (!flow.from) continue;
            for (const to of flow.to) {
              if (to[START] < view.from || flow.from[START] > view.to) continue;
              const isChosen = chosen === to || chosen === flow.from;
              if (painted > 400 && !isChosen) continue;
              painted += 1;
              const x1 = x(flow.from[START]), x2 = x(to[START]), y1 = y(flow.from) + row / 2, y2 = y(to) + row / 2 - 1;
              draw.lineWidth = isChosen ? 2 : 1;
              draw.globalAlpha = isChosen ? 1 : 0.6;
              draw.beginPath();
              draw.moveTo(x1, y1);
              draw.bezierCurveTo((x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2);
              draw.moveTo(x2 - 5, y2 - 3);
              draw.lineTo(x2, y2);
              draw.lineTo(x2 - 5, y2 + 3);
              draw.stroke();
            }
          }
          draw.restore();
        }
        """#
}
