import Foundation
import TestSupport
import Testing

/// Each sentence that an article guarantees is named above its tests.
@Suite struct GuaranteeTests {
    /// A sentence of an article.
    private struct Sentence {
        /// The names of the module and the file.
        let article: String
        let text: String
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

    @Test func `each guaranteed sentence is named above a test, and no other one is`() throws {
        var tests: [String: [String]] = [:]
        for file in try Documentation.files(under: "Tests", endingIn: ".swift") {
            let suite = file.components(separatedBy: "/").last?.dropLast(".swift".count) ?? ""
            for claim in Documentation.claims(in: try Documentation.text(of: file)) {
                let test = try #require(claim.test, "\(file): not above a test: \(claim.sentence)")
                let name = "\(suite) | \(test)"
                #expect(
                    tests[claim.sentence]?.contains(name) != true, "\(file): named twice: \(claim.sentence)")
                tests[claim.sentence, default: []].append(name)
            }
        }
        let sentences = try sentences()
        for sentence in sentences where tests[sentence.text] == nil {
            Issue.record("no test: \(sentence.article): \(sentence.text)")
        }
        for sentence in Set(tests.keys).subtracting(sentences.map(\.text)) {
            Issue.record("in no article: \(sentence): \(tests[sentence, default: []])")
        }
        #expect(sentences.count > 80)

        let rows = sentences.flatMap { sentence in
            tests[sentence.text, default: []].map { "| \(sentence.article) | \(sentence.text) | \($0) |\n" }
        }
        let head = "| Article | Sentence | Suite | Test |\n|---|---|---|---|\n"
        Attachment.record(head + rows.joined(), named: "Guarantees.md")
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

    @Test func `a comment names a sentence over lines, and belongs to the test below it`() {
        // In one piece, the marks would be read as comments of this file.
        let mark = "// Guarantees:"
        let text = """
            /// A test.
            \(mark) One over
            // two lines.
            \(mark) Two.
            @Test(
                arguments: ["func"])
            func `first`(text: String) {}

            \(mark) Three.
            @Test func `second`() {}

            \(mark) Four.
            func `third`() {}
            @Test func `fourth`() {}
            """
        let claims = Documentation.claims(in: text)
        #expect(claims.map(\.sentence) == ["One over two lines.", "Two.", "Three.", "Four."])
        #expect(claims.map(\.test) == ["first", "first", "second", nil])
    }
}
