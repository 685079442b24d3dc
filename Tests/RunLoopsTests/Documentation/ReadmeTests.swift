import Foundation
import TestSupport
import Testing

/// The statements of the README and the articles about the package are true.
@Suite struct ReadmeTests {
    /// The pages beside the sources, and the articles of the run loops.
    private static func pages() throws -> [String] {
        let pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Examples/README.md"]
        return try pages + Documentation.articles(of: "RunLoops")
    }

    @Test(arguments: try pages()) func `every block of Swift stands in a snippet that compiles`(
        page: String
    ) throws {
        // The servers are those of the module Streams, and the commands with limits are those of an example.
        let others = ["Tests/StreamsTests/Snippets", "Examples/Sources/JobRunner"]
        for block in try Documentation.blocks(of: page, missingIn: "RunLoopsTests", and: others) {
            Issue.record("\(page) has a block that no snippet has:\n\(block)")
        }
    }

    @Test(arguments: try pages()) func `a block of code says which language it is in`(page: String) throws {
        #expect(try Documentation.strayMarkers(of: page).isEmpty)
    }

    @Test(arguments: ["## Measure it", "## Test it"]) func `a set-up command is the only one of its section`(
        heading: String
    ) throws {
        let sections = try Documentation.text(of: "README.md").components(separatedBy: "\n\(heading)\n")
        try #require(sections.count == 2)
        let section = try #require(sections[1].components(separatedBy: "\n## ").first)
        let commands = Documentation.blocks(in: section, marked: "sh")
        #expect(commands.count == 1)
        #expect(commands.first?.text.hasPrefix("apt-get update && apt-get install -y ") == true)
    }

    @Test(arguments: try pages()) func `every link to a file of the package leads to one`(page: String) throws
    {
        #expect(try Documentation.brokenLinks(of: page).isEmpty)
    }

    // Guarantees: No library but FoundationRunLoops imports Foundation.
    @Test func `no file of the libraries imports Foundation`() throws {
        // Except the target for code that imports Foundation.
        let files = try Documentation.files(under: "Sources", endingIn: ".swift").filter {
            !$0.hasPrefix("Sources/FoundationOverlay/")
        }
        #expect(!files.isEmpty)
        for file in files {
            let imports = Documentation.Block(try Documentation.text(of: file)).imports
            #expect(!imports.contains { $0.hasSuffix("Foundation") }, "\(file)")
        }
    }
}
