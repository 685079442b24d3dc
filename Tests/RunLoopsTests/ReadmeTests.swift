import Foundation
import Testing

/// What the README and the articles say about themselves is true.
@Suite struct ReadmeTests {
    @Test(arguments: try Documentation.pages()) func `every block of Swift stands in a snippet that compiles`(
        page: String
    ) throws {
        let snippets = try Documentation.snippets()
        for block in try Documentation.blocks(of: page, marked: "swift") {
            let isCompiled = snippets.contains { snippet in
                snippet.imports.isSuperset(of: block.imports)
                    && (block.body.isEmpty || snippet.body.contains(block.body))
            }
            #expect(isCompiled, "\(page) has a block that no snippet has:\n\(block.text)")
        }
    }

    @Test(arguments: try Documentation.pages()) func `a block of code says which language it is in`(
        page: String
    ) throws {
        let markers = try Documentation.text(of: page).split(separator: "\n").filter { $0.hasPrefix("```") }
        let known: Set<Substring> = ["```", "```swift", "```swift package", "```sh"]
        #expect(known.isSuperset(of: markers))
        #expect(markers.count.isMultiple(of: 2))
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

    @Test func `every link of the README to a file of the package leads to one`() throws {
        let text = try Documentation.text(of: "README.md")
        let targets = text.components(separatedBy: "](").dropFirst().compactMap {
            $0.components(separatedBy: ")").first
        }
        #expect(!targets.isEmpty)
        for target in targets {
            #expect(FileManager.default.fileExists(atPath: Documentation.root + target), "\(target)")
        }
    }

    @Test func `no file of the libraries imports Foundation`() throws {
        let files = try Documentation.files(under: "Sources", endingIn: ".swift")
        #expect(!files.isEmpty)
        for file in files {
            let imports = Documentation.Block(try Documentation.text(of: file)).imports
            #expect(!imports.contains { $0.hasSuffix("Foundation") }, "\(file)")
        }
    }
}

/// The package's pages, and the code in them.
enum Documentation {
    /// The package's directory, with a slash at the end.
    static let root = String(#filePath.dropLast("Tests/RunLoopsTests/ReadmeTests.swift".count))

    /// A piece of Swift: what it imports, and the rest without white space.
    struct Block {
        let text: String
        let imports: Set<String>
        let body: String

        init(_ text: String) {
            self.text = text
            let lines = text.components(separatedBy: "\n")
            let isImport = { (line: String) in
                line.hasPrefix("import ") || line.hasPrefix("internal import ")
                    || line.hasPrefix("public import ") || line.hasPrefix("@testable import ")
            }
            imports = Set(lines.filter(isImport))
            body = lines.filter { !isImport($0) }.joined().filter { !$0.isWhitespace }
        }
    }

    /// The README and the articles.
    static func pages() throws -> [String] {
        try ["README.md", "CONTRIBUTING.md"] + files(under: "Sources", endingIn: ".md")
    }

    /// The files with the code of the pages.
    static func snippets() throws -> [Block] {
        try files(under: "Tests", endingIn: ".swift").filter { $0.contains("/Snippets/") }
            .map { Block(try text(of: $0)) }
    }

    static func text(of path: String) throws -> String {
        try String(contentsOfFile: root + path, encoding: .utf8)
    }

    /// Where the files are, from the package's directory.
    static func files(under directory: String, endingIn suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root + directory)
            .filter { $0.hasSuffix(suffix) }.map { "\(directory)/\($0)" }.sorted()
    }

    static func blocks(of path: String, marked language: String) throws -> [Block] {
        blocks(in: try text(of: path), marked: language)
    }

    /// The fenced blocks of one language.
    static func blocks(in text: String, marked language: String) -> [Block] {
        var found: [Block] = []
        var open: [String]?
        for line in text.components(separatedBy: "\n") {
            if let lines = open {
                if line == "```" {
                    found.append(Block(lines.joined(separator: "\n")))
                    open = nil
                } else {
                    open = lines + [line]
                }
            } else if line == "```\(language)" {
                open = []
            }
        }
        return found
    }
}
