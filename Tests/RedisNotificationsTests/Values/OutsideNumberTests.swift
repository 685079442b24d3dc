import Foundation
import TestSupport
import Testing

/// The places in the sources where numbers of the server are read.
@Suite struct OutsideNumberTests {
    /// The halves of an ID are only compared, those of an identity are no numbers, and the others are not the server's.
    private static let exceptions = [
        "UInt64(Substring(digits))", "UInt64(text.prefix(16), radix: 16)", "Int(NI_MAXHOST)",
        "UInt8(bitPattern: $0)", "UInt32(record.bytes.count)",
    ]

    @Test func `no number of the server is read as another type than an outside number`() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/RedisNotifications/Internal")
        let names = try FileManager.default.contentsOfDirectory(atPath: sources.path)
            .filter { $0.hasSuffix(".swift") }
        #expect(names.count > 10)
        for name in names {
            let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
            for line in text.split(separator: "\n") where !Self.exceptions.contains(where: line.contains) {
                // The places of the reader are within its own limits, and codes are checked by `exactly`.
                if name == "RedisReply.swift" || name == "RedisReader.swift" { continue }
                #expect(!line.contains(/\bU?Int(8|16|32|64)?\((?!exactly:|ascii:)/), "\(name): \(line)")
            }
        }
    }
}
