internal import Foundation

/// All that a run of the program found.
struct Report: Codable {
    let machine: Machine
    var chapters: [Chapter] = []

    /// The rows of all families.
    var targets: [TargetRow] { chapters.flatMap(\.targets) }

    /// Why the program ends with an error; empty if it does not.
    var failures: [String] {
        let missed = targets.filter(\.isFailure).map { "\($0.id) \($0.what): \($0.verdict.rawValue)" }
        return chapters.flatMap(\.failures) + missed
    }

    /// For machines: every figure, under the names that the tables give them.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    /// Writes what was asked for where it was asked for.
    ///
    /// - Parameters:
    ///   - json: A file, or `-` for standard output; the text then goes to standard error.
    ///   - html: A file.
    /// - Throws: Why a file could not be written.
    func write(json: String?, html: String?) throws {
        let text = Data((TextReport(self).text + "\n").utf8)
        if json == "-" {
            FileHandle.standardError.write(text)
            FileHandle.standardOutput.write(try self.json() + Data("\n".utf8))
        } else {
            FileHandle.standardOutput.write(text)
        }
        if let json, json != "-" { try self.json().write(to: URL(filePath: json)) }
        if let html { try Data(HTMLReport(self).text.utf8).write(to: URL(filePath: html)) }
    }
}
