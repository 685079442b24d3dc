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
}
