internal import RunLoops

/// A builder of a page of text whose lines have a limited width.
struct TextPage {
    let width: Int
    private(set) var text = ""

    init(width: Int) { self.width = width }

    /// Writes a line, cut at the width.
    ///
    /// Control characters, which might move a terminal's cursor, and invisible characters of formatting are replaced.
    mutating func line(_ line: String) {
        var line = String(ForeignText(line, atMost: 20 * width).description.prefix(width))
        while line.last == " " { line.removeLast() }
        text += line + "\n"
    }

    /// Writes a heading and a table, unless the table is empty.
    mutating func section(_ title: String, _ heads: [String], _ rows: [[String]], leftAligned: Set<Int>) {
        if rows.isEmpty { return }
        line("")
        line(title)
        table(heads, rows, leftAligned: leftAligned)
    }

    /// Writes a table, each column as wide as its widest cell.
    mutating func table(_ heads: [String], _ rows: [[String]], leftAligned: Set<Int>) {
        let all = [heads] + rows
        let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        for row in all {
            let cells = row.enumerated().map { column, cell in
                let pad = String(repeating: " ", count: widths[column] - cell.count)
                return leftAligned.contains(column) ? cell + pad : pad + cell
            }
            line(cells.joined(separator: "  "))
        }
    }
}
