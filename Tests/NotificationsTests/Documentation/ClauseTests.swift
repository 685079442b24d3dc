import TestSupport
import Testing

/// Each test that the page of clauses names exists.
@Suite struct ClauseTests {
    /// One line of a table.
    private struct Row {
        let clause: String
        let suite: String
        let test: String

        /// Nil if the line is not a row of a table.
        init?(_ line: Substring) {
            let cells = line.split(separator: "|").map { String($0).trimmingSpaces }
            guard line.hasPrefix("| "), cells.count == 3, cells[1].hasSuffix("Tests") else { return nil }
            (clause, suite, test) = (cells[0], cells[1], cells[2])
        }
    }

    private func rows() throws -> [Row] {
        try Documentation.text(of: "Tests/Clauses.md").split(separator: "\n").compactMap { Row($0) }
    }

    @Test func `every clause has its test`() throws {
        let rows = try rows()
        #expect(rows.count > 50)
        for row in rows {
            let files = try Documentation.files(under: "Tests", endingIn: "/\(row.suite).swift")
            #expect(files.count == 1, "\(row.clause): no suite \(row.suite)")
            for file in files {
                let hasTest = try Documentation.text(of: file).contains("func `\(row.test)`")
                #expect(hasTest, "\(row.clause): no such test: \(row.test)")
            }
        }
    }

    @Test func `no test stands for two clauses`() throws {
        let tests = try rows().map(\.test)
        #expect(Set(tests).count == tests.count)
    }
}

extension String {
    /// The text without the spaces at both ends.
    fileprivate var trimmingSpaces: String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
