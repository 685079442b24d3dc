internal import Foundation

/// The package's pages, and the code in them.
public enum Documentation {
    /// The package's directory, with a slash at the end.
    public static let root = String(#filePath.dropLast("Tests/TestSupport/Documentation.swift".count))

    /// A piece of Swift: what it imports, and the rest without white space.
    public struct Block: Sendable {
        /// The piece as it stands there.
        public let text: String
        /// Its lines that import something.
        public let imports: Set<String>
        /// All other lines, without white space.
        public let body: String

        /// Takes a piece apart.
        ///
        /// - Parameter text: The piece.
        public init(_ text: String) {
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

    /// The articles of a module.
    ///
    /// - Parameter module: Its name.
    /// - Returns: Where they are, from the package's directory.
    /// - Throws: If they cannot be read.
    public static func articles(of module: String) throws -> [String] {
        try files(under: "Sources/\(module)/\(module).docc", endingIn: ".md")
    }

    /// The blocks of Swift of a page that no snippet of a test target contains, nor one of the programs that tests run.
    ///
    /// - Parameters:
    ///   - page: Where the page is, from the package's directory.
    ///   - target: The name of the test target.
    /// - Returns: Their text.
    /// - Throws: If a file cannot be read.
    public static func blocks(of page: String, missingIn target: String) throws -> [String] {
        let programs = try files(under: "Tests/Programs", endingIn: ".swift").filter {
            $0.contains("/Snippets/")
        }
        let snippets = try (files(under: "Tests/\(target)/Snippets", endingIn: ".swift") + programs)
            .map { Block(try text(of: $0)) }
        let blocks = blocks(in: try text(of: page), marked: "swift")
        return blocks.filter { block in
            !snippets.contains { snippet in
                snippet.imports.isSuperset(of: block.imports)
                    && (block.body.isEmpty || snippet.body.contains(block.body))
            }
        }.map(\.text)
    }

    /// The lines of a page that open or close a block of code, if all is not well with them.
    ///
    /// - Parameter page: Where the page is, from the package's directory.
    /// - Returns: Those that open a block of no language that is known here, and the last one if nothing closes it.
    /// - Throws: If the page cannot be read.
    public static func strayMarkers(of page: String) throws -> [String] {
        let markers = try text(of: page).components(separatedBy: "\n").filter { $0.hasPrefix("```") }
        let known: Set<String> = [
            "```", "```swift", "```swift package", "```sh", "```dockerfile", "```ini",
        ]
        let unclosed = markers.count.isMultiple(of: 2) ? [] : markers.suffix(1)
        return markers.filter { !known.contains($0) } + unclosed
    }

    /// The links of a page that lead to no file of the package, or to no heading of that file.
    ///
    /// - Parameter page: Where the page is, from the package's directory.
    /// - Returns: Where they lead.
    /// - Throws: If a page cannot be read.
    public static func brokenLinks(of page: String) throws -> [String] {
        let directory = URL(filePath: root + page).deletingLastPathComponent()
        let targets = try text(of: page).components(separatedBy: "](").dropFirst().compactMap {
            $0.components(separatedBy: ")").first
        }
        return try targets.filter { target in
            let parts = target.components(separatedBy: "#")
            let path = directory.appending(path: parts[0]).standardized.path
            if !FileManager.default.fileExists(atPath: path) { return true }
            guard parts.count == 2 else { return false }
            let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
            return !lines.contains { $0.hasPrefix("#") && anchor(of: $0) == parts[1] }
        }
    }

    /// The name by which a link leads to a heading: lower case, with hyphens for spaces.
    private static func anchor(of heading: String) -> String {
        let text = heading.drop { $0 == "#" }.dropFirst().lowercased()
        return String(text.map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" })
    }

    /// The text of a file.
    ///
    /// - Parameter path: Where it is, from the package's directory.
    /// - Returns: Its text.
    /// - Throws: If it cannot be read.
    public static func text(of path: String) throws -> String {
        try String(contentsOfFile: root + path, encoding: .utf8)
    }

    /// The files of a directory, and of those in it.
    ///
    /// - Parameters:
    ///   - directory: Where it is, from the package's directory.
    ///   - suffix: The end of their names.
    /// - Returns: Where they are, from the package's directory.
    /// - Throws: If the directory cannot be read.
    public static func files(under directory: String, endingIn suffix: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root + directory)
            .filter { $0.hasSuffix(suffix) }.map { "\(directory)/\($0)" }.sorted()
    }

    /// The fenced blocks of one language.
    ///
    /// - Parameters:
    ///   - text: A page's text.
    ///   - language: The language of the fence.
    /// - Returns: The blocks, in order.
    public static func blocks(in text: String, marked language: String) -> [Block] {
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
