internal import Foundation

/// A directory of a test's own, that only the user may enter.
public struct ScratchDirectory: Sendable {
    /// Its path.
    public let path: String

    /// Makes one in the system's directory for such.
    ///
    /// - Parameter name: Its name; nil for a new name.
    /// - Throws: If it cannot be made.
    public init(_ name: String? = nil) throws {
        path = ScratchDirectory.path(of: name ?? UUID().uuidString)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// The path of a directory with a name.
    ///
    /// - Parameter name: The name.
    /// - Returns: Its path.
    public static func path(of name: String) -> String {
        FileManager.default.temporaryDirectory.path + "/run-loops-test-" + name
    }

    /// The names of the files in it, in order.
    ///
    /// - Returns: The names.
    /// - Throws: If it cannot be read.
    public func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Removes it, and what is in it, also while ports that are ending take their own files out of it.
    ///
    /// - Throws: If it cannot be removed, or is not there.
    public func remove() throws {
        while true {
            do {
                return try FileManager.default.removeItem(atPath: path)
            } catch CocoaError.fileNoSuchFile where FileManager.default.fileExists(atPath: path) {
                // Another process has removed a file first: the next round finds fewer.
            }
        }
    }
}
