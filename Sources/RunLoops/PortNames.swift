/// Where names of ports are kept: the user's own directory, or another one.
///
/// A name that a port has is in use until the port ends or its process does, however that ends; then it can be had again at
/// once. Of several processes that want one name at the same moment one gets it. Abstract names are in no
/// directory, and the same in all places.
///
/// > Thread safety: a value.
public struct PortNames: Hashable, Sendable {
    enum Place: Hashable {
        case user
        case directory(String)
    }

    let place: Place

    /// The user's own names.
    ///
    /// Their directory is `run-loops` in `XDG_RUNTIME_DIR`; where that is not set, in the system's directory for the
    /// user, `/run/user/` and the user's number; and where there is none, `/tmp/run-loops-` and the number. It is made if
    /// it is not there, and must be the user's own and closed to everybody else. What was looked at is what is used, also if
    /// somebody puts another directory in its place: that takes `/proc`, as nearly every system has it.
    public static let user = PortNames(place: .user)

    private init(place: Place) { self.place = place }

    /// Names in a directory of the program's own.
    ///
    /// It is made if it is not there, but not what it is in. It must be the user's own and closed to everybody else.
    ///
    /// - Parameter directory: Its path, from the root on.
    public init(directory: String) {
        if !directory.hasPrefix("/") {
            misuse(
                "PortNames.init: \(directory) is no path from the root on; give one that begins with a slash")
        }
        place = .directory(directory)
    }

    /// Asks which process has a name.
    ///
    /// The owner sees this as a client that connects and leaves.
    ///
    /// - Parameter name: The name.
    /// - Returns: The process, as it was when it took the name.
    /// - Throws: ``PortNameError``: nobody has the name, or it cannot be told.
    ///
    /// > Thread safety: any thread.
    public func owner(of name: PortName) throws(PortNameError) -> PeerCredentials {
        let socket = try connect(to: name, before: .now)
        do { return try socket.peer } catch { throw .refused(error) }
    }
}
