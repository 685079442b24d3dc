import Foundation
import TestSupport
import Testing

/// The page of guarantees contains each sentence that an article guarantees, with tests that exist.
@Suite struct GuaranteeTests {
    /// One line of the table.
    private struct Row {
        let sentence: Sentence
        let suite: String
        let test: String

        /// Nil if the line is not a row of the table.
        init?(_ line: Substring) {
            guard line.hasPrefix("| "), line.hasSuffix(" |") else { return nil }
            let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            guard cells.count == 4, cells[0].contains("/") else { return nil }
            sentence = Sentence(article: cells[0], text: cells[1])
            (suite, test) = (cells[2], cells[3])
        }
    }

    /// A sentence of an article.
    private struct Sentence: Hashable, CustomStringConvertible {
        /// The names of the module and the file.
        let article: String
        let text: String
        var description: String { "\(article): \(text)" }
    }

    private func rows() throws -> [Row] {
        try Documentation.text(of: "Tests/Guarantees.md").split(separator: "\n").compactMap { Row($0) }
    }

    /// The sentences under "Guaranteed", in the order of the articles.
    private func sentences() throws -> [Sentence] {
        let modules = [
            "DistributedNotifications", "FoundationRunLoops", "HTTPClients", "HTTPServers", "Inspection",
            "MessagePorts", "Notifications", "RedisNotifications", "RunLoops", "RunLoopsLifecycle",
            "RunLoopsLogging", "RunLoopsMetrics", "RunLoopsNIO", "RunLoopsOpenCombine", "RunLoopsTesting",
            "RunLoopsTracing", "Streams", "TLSStreams",
        ]
        return try modules.flatMap { module in
            try Documentation.articles(of: module).flatMap { page in
                let name = page.components(separatedBy: "/").last?.dropLast(".md".count) ?? ""
                return Documentation.guarantees(in: try Documentation.text(of: page)).map {
                    Sentence(article: "\(module)/\(name)", text: $0)
                }
            }
        }
    }

    @Test func `every guaranteed sentence has a test, and every row has its sentence`() throws {
        var named: [Sentence] = []
        for row in try rows() where named.last != row.sentence { named.append(row.sentence) }
        let sentences = try sentences()
        for sentence in sentences where !named.contains(sentence) { Issue.record("no test: \(sentence)") }
        for sentence in named where !sentences.contains(sentence) { Issue.record("stale: \(sentence)") }
        #expect(Set(named).count == named.count, "the rows of a sentence stand together")
        #expect(sentences.count > 80)
    }

    @Test func `every test of a guarantee exists`() throws {
        let files = Dictionary(grouping: try Documentation.files(under: "Tests", endingIn: ".swift")) {
            $0.components(separatedBy: "/").last ?? ""
        }
        let texts = try files.compactMapValues { try $0.count == 1 ? Documentation.text(of: $0[0]) : nil }
        for row in try rows() {
            let text = texts["\(row.suite).swift"]
            #expect(text != nil, "no suite \(row.suite), or several")
            #expect(text?.contains("func `\(row.test)`") != false, "\(row.suite): no such test: \(row.test)")
        }
    }

    @Test func `no row is there twice, and none is left out for its form`() throws {
        let rows = try rows()
        let keys = rows.map { "\($0.sentence) \($0.suite) \($0.test)" }
        #expect(Set(keys).count == keys.count)
        let lines = try Documentation.text(of: "Tests/Guarantees.md").split(separator: "\n").filter {
            $0.hasPrefix("|")
        }
        // Without the two lines of the table's head.
        #expect(lines.count - 2 == rows.count)
    }

    @Test func `a guarantee is read as sentences, over lines and items`() {
        let page = """
            ## Guaranteed

            - One. Two over
              two lines: and on.
            - Three, of `a.b`

            Not an item.

            ## Today

            - Four.
            """
        #expect(
            Documentation.guarantees(in: page) == ["One.", "Two over two lines: and on.", "Three, of `a.b`"])
    }
}
