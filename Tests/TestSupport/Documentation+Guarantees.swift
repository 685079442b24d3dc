internal import Foundation

extension Documentation {
    /// Returns the sentences of the list under the heading "Guaranteed".
    ///
    /// - Parameter text: The text of an article.
    /// - Returns: The sentences in order, each on one line; empty if there is no such heading.
    public static func guarantees(in text: String) -> [String] {
        let parts = text.components(separatedBy: "## Guaranteed\n")
        guard parts.count == 2, let section = parts[1].components(separatedBy: "\n## ").first else {
            return []
        }
        var items: [String] = []
        var isInItem = false
        for line in section.components(separatedBy: "\n") {
            if line.hasPrefix("- ") {
                items.append(String(line.dropFirst(2)))
                isInItem = true
            } else if isInItem, line.hasPrefix("  ") {
                items[items.count - 1] += " " + line.dropFirst(2)
            } else {
                isInItem = false
            }
        }
        return items.flatMap { item in
            let sentences = item.components(separatedBy: ". ")
            return sentences.dropLast().map { $0 + "." } + sentences.suffix(1)
        }
    }

    /// A guaranteed sentence, as a comment above a test names it.
    public struct Claim: Sendable {
        /// The sentence, on one line.
        public let sentence: String
        /// The name of the test; nil if the comment is not directly above one.
        public let test: String?
    }

    /// Returns the guaranteed sentences that comments above tests name.
    ///
    /// Such a comment begins with `// Guarantees:`, and the sentence may continue on further lines.
    ///
    /// - Parameter text: The text of a file with tests.
    /// - Returns: The sentences in order, each on one line.
    public static func claims(in text: String) -> [Claim] {
        let mark = "// Guarantees: "
        var claims: [Claim] = []
        var sentences: [String] = []
        var isInTest = false
        for indented in text.components(separatedBy: "\n") {
            let line = indented.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix(mark) {
                sentences.append(String(line.dropFirst(mark.count)))
            } else if sentences.isEmpty {
                continue
            } else if !isInTest, line.hasPrefix("// ") {
                sentences[sentences.count - 1] += line.dropFirst(2)
            } else {
                isInTest = isInTest || line.hasPrefix("@Test")
                let parts = line.components(separatedBy: "func `")
                if isInTest, parts.count == 1 { continue }
                let test = isInTest ? parts[1].components(separatedBy: "`").first : nil
                claims += sentences.map { Claim(sentence: $0, test: test) }
                sentences = []
                isInTest = false
            }
        }
        return claims
    }
}
