internal import Foundation

/// A directory for one test, which only the user can enter.
public struct ScratchDirectory: Sendable {
    /// The path of the directory.
    public let path: String

    /// Makes a directory in the system's directory for temporary files.
    ///
    /// - Parameter name: The name of the directory, or nil for a new name.
    /// - Throws: An error if the directory cannot be made.
    public init(_ name: String? = nil) throws {
        path = ScratchDirectory.path(of: name ?? UUID().uuidString)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Returns the path of the directory with a name.
    ///
    /// - Parameter name: The name of the directory.
    /// - Returns: The path of the directory.
    public static func path(of name: String) -> String {
        FileManager.default.temporaryDirectory.path + "/run-loops-test-" + name
    }

    /// Lists the files of the directory.
    ///
    /// - Returns: The names of the files, sorted.
    /// - Throws: An error if the directory cannot be read.
    public func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Removes the directory and its files, even while ending ports remove their own files from it.
    ///
    /// - Throws: An error if the directory cannot be removed, or does not exist.
    public func remove() throws {
        while true {
            do {
                return try FileManager.default.removeItem(atPath: path)
            } catch CocoaError.fileNoSuchFile where FileManager.default.fileExists(atPath: path) {
                // A file has been removed meanwhile. The next attempt finds fewer files.
            }
        }
    }
}
