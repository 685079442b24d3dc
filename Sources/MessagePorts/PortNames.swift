internal import RunLoops

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
    /// Their directory is in the first of these places that belongs to the effective user and that no other user may write to:
    ///
    /// 1. `run-loops` in the directory that `XDG_RUNTIME_DIR` names;
    /// 2. `run-loops` in `/run/user/` and the user's number, the system's directory for a user who has logged in;
    /// 3. `.run-loops` in the directory that `HOME` names.
    ///
    /// So no other user can take the directory first, as one in `/tmp` could be taken. If none of them will do, taking a
    /// name and looking one up throw ``PortNameError/noDirectory(reason:)``, which says why: set `XDG_RUNTIME_DIR`, or use
    /// ``init(directory:)``.
    ///
    /// Both processes must arrive at the same directory. A service that is started without a login and a program in a login
    /// session of the same user may not: give both ``init(directory:)``. ``description`` tells the directory.
    ///
    /// The directory is made if it is not there, and must be the user's own and closed to all others. The directory that was
    /// looked at is the one that is used, even if another one takes its place meanwhile; this needs `/proc`, which nearly
    /// every system has.
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

extension PortNames: CustomStringConvertible {
    /// The directory of the names, as in `names in /run/user/1000/run-loops`, or the reason that there is none.
    public var description: String {
        switch place {
        case .directory(let path): return "names in \(path)"
        case .user:
            do throws(PortNameError) { return "names in \(try NameDirectory.pathOfUser())" } catch {
                return "\(error)"
            }
        }
    }
}
