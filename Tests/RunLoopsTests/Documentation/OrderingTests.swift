import Foundation
import TestSupport
import Testing

/// The page of orderings has a row for each atomic of the sources.
@Suite struct OrderingTests {
    /// The names of the rows, as in `Mailbox.word`.
    private func rows() throws -> [String] {
        try Documentation.text(of: "Tests/Orderings.md").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| ") else { return nil }
            let name = line.dropFirst(2).prefix { $0 != " " }
            return name == "Atomic" ? nil : String(name)
        }
    }

    /// The names of the stored atomics of a file: the file's name, a dot, and the property's name.
    private func atomics(in text: String, of name: String) -> [String] {
        let declaration = /^\s*(?:[a-z]+ )*let (\w+)(?:: | = )(?:.*\W)?Atomic[<(]/
        return text.components(separatedBy: "\n").compactMap { line in
            line.firstMatch(of: declaration).map { "\(name).\($0.output.1)" }
        }
    }

    @Test func `each atomic of the sources has a row with its ordering and the argument`() throws {
        let files = try Documentation.files(under: "Sources", endingIn: ".swift")
        let found = try files.flatMap { file in
            let name = file.components(separatedBy: "/").last?.dropLast(".swift".count) ?? ""
            return atomics(in: try Documentation.text(of: file), of: String(name))
        }
        let rows = try rows()
        for atomic in Set(found).subtracting(rows) { Issue.record("no row: \(atomic)") }
        for row in Set(rows).subtracting(found) { Issue.record("no atomic: \(row)") }
        #expect(Set(rows).count == rows.count, "one row each")
        #expect(found.count > 60)
    }

    @Test func `a declaration is found, and other mentions are not`() {
        let text = """
            private let word: Atomic<UInt64>
                static let count = Atomic(0)
            let words = InlineArray<6, Atomic<UInt>> { _ in Atomic(0) }
            /// let comment = Atomic(0)
            init() { word = Atomic(1) }
            """
        #expect(atomics(in: text, of: "File") == ["File.word", "File.count", "File.words"])
    }
}
