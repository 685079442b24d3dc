/// The report as a self-contained page, without scripts, fonts or a network.
struct HTMLReport {
    private let report: Report

    init(_ report: Report) { self.report = report }

    /// The whole page.
    var text: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Run loops: benchmark results</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <h1>Run loops: benchmark results</h1>
        <pre class="machine">\(SVG.escaped(report.machine.description.joined(separator: "\n")))</pre>
        <p>Times are compared within this run only. A ratio is the median of the rounds, with the range of half of them.
        <span class="key ours"></span> this package <span class="key yardstick"></span> yardsticks
        <span class="key peer"></span> other loops</p>
        \(failures)
        \(targets)
        \(report.chapters.map(chapter).joined(separator: "\n"))
        </main>
        </body>
        </html>

        """
    }

    private var failures: String {
        report.failures.map { "<p class=\"miss\">Failed: \(SVG.escaped($0))</p>" }.joined(separator: "\n")
    }

    private var targets: String {
        if report.targets.isEmpty { return "" }
        let rows = report.targets.map { row in
            let format: NumberFormat = row.isCount ? .perMessage : .ratio
            let spread =
                row.figure.map { "\(format.text($0.lowerQuartile)) – \(format.text($0.upperQuartile))" } ?? ""
            let style =
                switch row.verdict {
                case .pass, .stretch: "pass"
                case .miss: "miss"
                case .unmeasured: "unmeasured"
                }
            let cells = [
                (row.id, ""), (row.what, ""), (row.target.description, "figure"),
                (row.stretch?.description ?? "", "figure"),
                (format.text(row.figure?.median), "figure strong"),
                (spread, "figure"), (row.verdict.rawValue + (row.note.map { " (\($0))" } ?? ""), style),
            ]
            return Self.row("td", cells)
        }
        let head = Self.row(
            "th",
            [
                ("id", ""), ("what", ""), ("target", "figure"), ("stretch", "figure"), ("figure", "figure"),
                ("half of the rounds", "figure"), ("", ""),
            ])
        return
            "<h2>Targets</h2>\n<div class=\"wide\"><table>\(head)\(rows.joined(separator: "\n"))</table></div>"
    }

    private func chapter(_ chapter: Chapter) -> String {
        let remarks = chapter.remarks.map { "<li>\(SVG.escaped($0))</li>" }.joined(separator: "\n")
        return """
            <h2>\(SVG.escaped(chapter.name.prefix(1).uppercased() + chapter.name.dropFirst()))</h2>
            \(chapter.charts.map(figure).joined(separator: "\n"))
            <ul>\(remarks)</ul>
            <details><summary>All figures</summary>
            \(chapter.tables.map(table).joined(separator: "\n"))
            </details>
            """
    }

    private func figure(_ chart: Chart) -> String {
        let (title, reading, svg) =
            switch chart {
            case .distributions(let title, let reading, let series):
                (title, reading, DistributionChart(title: title, series: series).svg)
            case .bars(let title, let reading, let unit, let groups):
                (title, reading, BarChart(title: title, unit: unit, groups: groups).svg)
            case .growth(let title, let reading, let size, let lines):
                (title, reading, GrowthChart(title: title, size: size, lines: lines).svg)
            }
        return """
            <figure><h3>\(SVG.escaped(title))</h3>
            <figcaption>\(SVG.escaped(reading))</figcaption>
            <div class="wide">\(svg)</div></figure>
            """
    }

    private func table(_ table: Table) -> String {
        let head = Self.row("th", [("", "")] + table.columns.map { ($0.title, "figure") })
        let rows = table.rows.map { row in
            Self.row(
                "td", [(row.name, "")] + table.columns.map { ($0.format.text(row.figures[$0.key]), "figure") }
            )
        }
        return """
            <h3>\(SVG.escaped(table.title))</h3>
            <div class="wide"><table>\(head)\(rows.joined(separator: "\n"))</table></div>
            """
    }

    private static func row(_ element: String, _ cells: [(text: String, style: String)]) -> String {
        let cells = cells.map { "<\(element) class=\"\($0.style)\">\(SVG.escaped($0.text))</\(element)>" }
        return "<tr>\(cells.joined())</tr>"
    }

    private static let style = """
        :root { --back: #fcfcfb; --text: #1d2327; --soft: #5d676f; --line: #d9dde0; --ours: #c8501e;
          --yardstick: #8b959c; --peer: #3a78b8; --good: #22794a; --bad: #b3261e; }
        @media (prefers-color-scheme: dark) { :root { --back: #15191c; --text: #e6e9eb; --soft: #9aa5ad;
          --line: #333b41; --ours: #f0854f; --yardstick: #7d8890; --peer: #6ba6e0; --good: #6fce9a;
          --bad: #ff8a80; } }
        body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
        main { max-width: 980px; margin: 0 auto; padding: 24px 20px 60px; }
        h1 { font-size: 26px; } h2 { margin: 40px 0 8px; font-size: 20px; } h3 { margin: 22px 0 2px; font-size: 16px; }
        .machine { color: var(--soft); font-size: 12.5px; white-space: pre-wrap; }
        figure { margin: 0; } figcaption, li { color: var(--soft); font-size: 14px; }
        .wide { overflow-x: auto; } .wide svg { min-width: 680px; width: 100%; height: auto; margin-top: 8px; }
        table { border-collapse: collapse; font-size: 13px; width: 100%; }
        th, td { text-align: left; padding: 3px 8px; border-bottom: 1px solid var(--line); }
        .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .strong { font-weight: 600; } .pass { color: var(--good); } .miss { color: var(--bad); font-weight: 600; }
        .unmeasured { color: var(--soft); } td:first-child { white-space: nowrap; } summary { cursor: pointer; margin-top: 12px; }
        .key { display: inline-block; width: 11px; height: 11px; margin: 0 3px 0 12px; border-radius: 2px; }
        .key.ours { background: var(--ours); } .key.yardstick { background: var(--yardstick); }
        .key.peer { background: var(--peer); }
        svg text { fill: var(--text); font: 13px system-ui, sans-serif; }
        svg .axis { fill: var(--soft); font-size: 12px; } svg .bar { font-size: 10px; } svg .value { font-weight: 600; }
        svg .grid { stroke: var(--line); } svg .tick { stroke: var(--text); stroke-width: 1.5; }
        svg .mark { fill: var(--text); } svg .ours { fill: var(--ours); }
        svg .yardstick { fill: var(--yardstick); } svg .peer { fill: var(--peer); }
        svg .line { stroke-width: 2; fill: none; } svg .line.ours { stroke: var(--ours); }
        svg .line.yardstick { stroke: var(--yardstick); } svg .line.peer { stroke: var(--peer); }
        """
}
