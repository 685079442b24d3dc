/// The report as text for a terminal.
struct TextReport {
    private let report: Report

    init(_ report: Report) { self.report = report }

    /// The whole report.
    var text: String {
        var lines = report.machine.description
        for chapter in report.chapters {
            lines += ["", "== \(chapter.name) =="]
            lines += chapter.remarks.map { "- " + $0 }
            for table in chapter.tables { lines += ["", table.title] + rows(of: table) }
        }
        let targets = report.targets
        if !targets.isEmpty { lines += ["", "== targets =="] + rows(of: targets) }
        for failure in report.failures { lines += ["FAILED: " + failure] }
        return lines.joined(separator: "\n")
    }

    private func rows(of table: Table) -> [String] {
        var cells = [[""] + table.columns.map(\.title)]
        for row in table.rows {
            cells.append([row.name] + table.columns.map { $0.format.text(row.figures[$0.key]) })
        }
        return Self.aligned(cells, leftColumns: [0])
    }

    private func rows(of targets: [TargetRow]) -> [String] {
        var cells = [["id", "what", "target", "stretch", "figure", "half of the rounds", ""]]
        for row in targets {
            let format: NumberFormat = row.isCount ? .perMessage : .ratio
            let spread = row.figure.map {
                "\(format.text($0.lowerQuartile)) – \(format.text($0.upperQuartile))"
            }
            cells.append([
                row.id, row.what, row.target.description, row.stretch?.description ?? "",
                format.text(row.figure?.median), spread ?? "",
                row.verdict.rawValue + (row.note.map { " (\($0))" } ?? ""),
            ])
        }
        return Self.aligned(cells, leftColumns: [0, 1, 6])
    }

    /// Pads the cells so that the columns are aligned.
    private static func aligned(_ cells: [[String]], leftColumns: Set<Int>) -> [String] {
        let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return leftColumns.contains(column) ? cell + padding : padding + cell
            }
            let line = padded.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
