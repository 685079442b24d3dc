import TestSupport
import Testing

/// The page of clauses names tests that exist, and leaves no clause out.
@Suite struct ClauseTests {
    /// One line of a table.
    private struct Row {
        let number: String
        let suite: String
        let test: String

        /// Nil for a line that is something else.
        init?(_ line: Substring) {
            let cells = line.split(separator: "|").map { String($0).trimmingSpaces }
            guard cells.count == 4, cells[0].first?.isNumber == true else { return nil }
            (number, suite, test) = (cells[0], cells[2], cells[3])
        }
    }

    private func rows() throws -> [Row] {
        try Documentation.text(of: "Tests/Clauses.md").split(separator: "\n").compactMap { Row($0) }
    }

    @Test func `every clause has its test`() throws {
        var numbers: [String] = []
        for row in try rows() {
            if numbers.last != row.number { numbers.append(row.number) }
            let files = try Documentation.files(under: "Tests", endingIn: "/\(row.suite).swift")
            #expect(files.count == 1, "\(row.number): no suite \(row.suite)")
            for file in files {
                let hasTest = try Documentation.text(of: file).contains("func `\(row.test)`")
                #expect(hasTest, "\(row.number): no such test: \(row.test)")
            }
        }
        #expect(numbers == (11...31).map { "6.\($0)" } + (13...29).map { "9.\($0)" })
    }

    @Test func `no test answers for two clauses`() throws {
        let tests = try rows().map(\.test)
        #expect(Set(tests).count == tests.count)
    }
}

extension String {
    /// Without the spaces at both ends.
    fileprivate var trimmingSpaces: String {
        var rest = self[...]
        while rest.first == " " { rest.removeFirst() }
        while rest.last == " " { rest.removeLast() }
        return String(rest)
    }
}
