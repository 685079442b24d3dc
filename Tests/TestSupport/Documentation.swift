internal import Foundation

/// The pages of the package, and the code in them.
public enum Documentation {
    /// The directory of the package, with a slash at the end.
    ///
    /// Other packages link this file's folder, so the path of the file itself is found first.
    public static let root = String(
        URL(filePath: #filePath).resolvingSymlinksInPath().path.dropLast(
            "Tests/TestSupport/Documentation.swift".count))

    /// A block of Swift code, divided into its imports and the other lines without white space.
    public struct Block: Sendable {
        /// The text of the block.
        public let text: String
        /// The lines that import modules.
        public let imports: Set<String>
        /// All other lines, without white space.
        public let body: String

        /// Divides a block.
        ///
        /// - Parameter text: The text of the block.
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

    /// Finds the articles of a module.
    ///
    /// - Parameter module: The name of the module.
    /// - Returns: The paths of the articles, relative to the package's directory.
    /// - Throws: An error if the directory cannot be read.
    public static func articles(of module: String) throws -> [String] {
        try files(under: "Sources/\(module)/\(module).docc", endingIn: ".md")
    }

    /// Finds the blocks of Swift code in a page that no snippet of a test target, no test program and no example contains.
    ///
    /// - Parameters:
    ///   - page: The path of the page, relative to the package's directory.
    ///   - target: The name of the test target.
    ///   - examples: The folders of the examples that the page shows, relative to the package's directory.
    /// - Returns: The texts of the blocks.
    /// - Throws: An error if a file cannot be read.
    public static func blocks(of page: String, missingIn target: String, and examples: [String] = []) throws
        -> [String]
    {
        let programs = try files(under: "Tests/Programs", endingIn: ".swift").filter {
            $0.contains("/Snippets/")
        }
        let shown = try examples.flatMap { try files(under: $0, endingIn: ".swift") }
        let snippets = try (files(under: "Tests/\(target)/Snippets", endingIn: ".swift") + programs + shown)
            .map { Block(try text(of: $0)) }
        let blocks = blocks(in: try text(of: page), marked: "swift")
        return blocks.filter { block in
            !snippets.contains { snippet in
                snippet.imports.isSuperset(of: block.imports)
                    && (block.body.isEmpty || snippet.body.contains(block.body))
            }
        }.map(\.text)
    }

    /// Finds wrong lines among those of a page that open or close a block of code.
    ///
    /// - Parameter page: The path of the page, relative to the package's directory.
    /// - Returns: The lines that open a block in an unknown language, and the last line if its block is not closed.
    /// - Throws: An error if the page cannot be read.
    public static func strayMarkers(of page: String) throws -> [String] {
        let markers = try text(of: page).components(separatedBy: "\n").filter { $0.hasPrefix("```") }
        let known: Set<String> = [
            "```", "```swift", "```swift package", "```sh", "```dockerfile", "```ini",
        ]
        let unclosed = markers.count.isMultiple(of: 2) ? [] : markers.suffix(1)
        return markers.filter { !known.contains($0) } + unclosed
    }

    /// Finds the links of a page that lead to no file of the package, or to no heading of the file.
    ///
    /// - Parameter page: The path of the page, relative to the package's directory.
    /// - Returns: The targets of the links.
    /// - Throws: An error if a page cannot be read.
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

    /// The name of a heading in a link: lower case, with hyphens for spaces.
    private static func anchor(of heading: String) -> String {
        let text = heading.drop { $0 == "#" }.dropFirst().lowercased()
        return String(text.map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" })
    }

    /// Reads a file.
    ///
    /// - Parameter path: The path of the file, relative to the package's directory.
    /// - Returns: The text of the file.
    /// - Throws: An error if the file cannot be read.
    public static func text(of path: String) throws -> String {
        try String(contentsOfFile: root + path, encoding: .utf8)
    }

    /// Finds the files in a directory and its subdirectories, except in build folders, which hold other packages.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory, relative to the package's directory.
    ///   - suffix: The end of the names of the files.
    /// - Returns: The paths of the files, relative to the package's directory.
    /// - Throws: An error if the directory cannot be read.
    public static func files(under directory: String, endingIn suffix: String) throws -> [String] {
        var found: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: root + directory) {
            let path = "\(directory)/\(name)"
            if name.hasPrefix(".build") { continue }
            if path.hasSuffix(suffix) { found.append(path) }
            let attributes = try FileManager.default.attributesOfItem(atPath: root + path)
            if attributes[.type] as? FileAttributeType == .typeDirectory {
                found += try files(under: path, endingIn: suffix)
            }
        }
        return found.sorted()
    }

    /// Finds the fenced blocks in one language.
    ///
    /// - Parameters:
    ///   - text: The text of a page.
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
