// The part of the page's script that handles the mouse, the keyboard and the buttons, and fills the table. It puts texts of the
// recording only into text nodes, never into markup.

extension TimelinePage {
    static let handling = #"""
        function show(from, to) {
          const span = Math.min(Math.max(to - from, 100), data.length * 1.02);
          const middle = (from + to) / 2;
          view.from = Math.max(-0.01 * data.length, Math.min(middle - span / 2, data.length * 1.01 - span));
          view.to = view.from + span;
          paint();
        }
        function zoom(factor, around = (view.from + view.to) / 2) {
          const share = (around - view.from) / (view.to - view.from), span = (view.to - view.from) * factor;
          show(around - share * span, around - share * span + span);
        }
        const pan = share => { const by = (view.to - view.from) * share; show(view.from + by, view.to + by); };

        function choose(item, brings) {
          chosen = item;
          const words = [data.texts[item[TITLE]], "on " + (item.thread.name || "thread " + item.thread.id),
                         "at " + time(item[START])];
          if (item[LENGTH] >= 0) words.push("took " + time(item[LENGTH]));
          for (let index = REST; index < item.length; index++)
            words.push(typeof item[index + 1] === "number"
              ? item[index].replace("_ns", "").replace(/_/g, " ") + " " + (/_ns$/.test(item[index]) ? time(item[++index]) : item[++index])
              : item[index]);
          byID("chosen").textContent = words.join(" · ");
          if (brings) {
            const around = Math.max(item[LENGTH], 2000) * 1.5;
            show(item[START] - around, item[START] + Math.max(item[LENGTH], 0) + around);
          } else paint();
        }

        const slow = () => data.threads.flatMap(thread => thread.items.filter(isSlow)).sort((a, b) => a[START] - b[START]);
        function nextSlow(direction) {
          const all = slow(), at = chosen ? chosen[START] : direction > 0 ? -Infinity : Infinity;
          const next = direction > 0 ? all.find(item => item[START] > at) : all.filter(item => item[START] < at).pop();
          if (next) choose(next, true);
        }

        function under(event) {
          const box = canvas.getBoundingClientRect(), atX = event.clientX - box.left, atY = event.clientY - box.top;
          if (atX < gutter) return null;
          let best = null, nearest = 4;
          for (const thread of data.threads) {
            if (atY < thread.top || atY > thread.top + thread.rows * row + gap) continue;
            for (const item of thread.items) {
              if (item[START] > view.to) break;
              if (atY < y(item) || atY > y(item) + row) continue;
              const from = x(item[START]), to = x(item[START] + Math.max(0, item[LENGTH]));
              const away = atX < from ? from - atX : atX > to ? atX - to : 0;
              if (away <= nearest) { nearest = away; best = item; }
            }
          }
          return best;
        }

        let dragged = null;
        canvas.addEventListener("pointerdown", event => {
          dragged = { at: event.clientX, from: view.from, to: view.to, moved: false };
          canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", event => {
          if (!dragged) { const item = under(event); canvas.title = item ? data.texts[item[TITLE]] : ""; return; }
          const by = (dragged.at - event.clientX) / (canvas.clientWidth - gutter) * (dragged.to - dragged.from);
          if (Math.abs(dragged.at - event.clientX) > 3) dragged.moved = true;
          if (dragged.moved) show(dragged.from + by, dragged.to + by);
        });
        canvas.addEventListener("pointerup", event => {
          const item = dragged && !dragged.moved ? under(event) : null;
          dragged = null;
          if (item) choose(item, false);
        });
        canvas.addEventListener("wheel", event => {
          event.preventDefault();
          const box = canvas.getBoundingClientRect();
          const share = Math.max(0, (event.clientX - box.left - gutter) / (canvas.clientWidth - gutter));
          if (event.shiftKey) pan(event.deltaY / 1000);
          else zoom(Math.exp(event.deltaY / 400), view.from + share * (view.to - view.from));
        }, { passive: false });

        const keys = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5),
                       "-": () => zoom(2), "0": () => show(0, data.length), n: () => nextSlow(1), p: () => nextSlow(-1) };
        addEventListener("keydown", event => {
          if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
          event.preventDefault();
          keys[event.key]();
        });
        byID("fit").onclick = keys["0"];
        byID("closer").onclick = keys["+"];
        byID("farther").onclick = keys["-"];
        byID("next").onclick = keys.n;
        byID("previous").onclick = keys.p;
        byID("threshold").oninput = () => { fillTable(); paint(); };

        function fillTable() {
          const places = new Map();
          for (const thread of data.threads) for (const item of thread.items) {
            if (!isHandler(item)) continue;
            const key = item[KIND] + " " + item[PLACE];
            const place = places.get(key) || { longest: item, calls: 0, together: 0, wait: -1 };
            place.calls += 1;
            place.together += item[LENGTH];
            place.wait = Math.max(place.wait, item[WAIT]);
            if (item[LENGTH] > place.longest[LENGTH]) place.longest = item;
            places.set(key, place);
          }
          const rows = [...places.values()].sort((a, b) => b.longest[LENGTH] - a.longest[LENGTH]).slice(0, 100);
          byID("places").replaceChildren(...rows.map(place => {
            const line = document.createElement("tr");
            const cells = [data.texts[place.longest[KIND]], data.texts[place.longest[PLACE]], place.calls, time(place.together),
                           time(place.longest[LENGTH]), place.wait < 0 ? "" : time(place.wait)];
            line.append(...cells.map(text => Object.assign(document.createElement("td"), { textContent: text })));
            if (isSlow(place.longest)) line.children[4].className = "slow";
            line.tabIndex = 0;
            line.onclick = () => { choose(place.longest, true); canvas.scrollIntoView({ block: "nearest" }); };
            line.onkeydown = event => { if (event.key === "Enter") line.onclick(); };
            return line;
          }));
        }

        byID("title").textContent = `${data.program} (${data.process})`;
        const count = data.threads.reduce((sum, thread) => sum + thread.items.length, 0);
        byID("summary").textContent = `${data.threads.length} threads, ${count} events in ${time(data.length)}`;
        document.title = `Timeline of ${data.program}`;
        canvas.setAttribute("aria-label", "A lane for each thread, with its runs, handlers, sleeps and waits. The table below has the handlers.");
        addEventListener("resize", paint);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
        fillTable();
        paint();
        """#
}
