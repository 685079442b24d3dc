internal import RunLoops

/// A place in which names of ports are kept: the user's own directory, or another directory.
///
/// A port has its name until the port ends, or until its process ends for any reason. Then the name is free immediately. If several
/// processes try to take one name at the same moment, one of them gets it. Abstract names are in no directory: they are the same in
/// every place.
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
    /// Their directory is the first of the following whose parent directory belongs to the effective user, and cannot be written
    /// to by any other user:
    ///
    /// 1. `run-loops` in the directory that `XDG_RUNTIME_DIR` names;
    /// 2. `run-loops` in the system's directory for a user who has logged in: `/run/user/` followed by the user's number;
    /// 3. `.run-loops` in the directory that `HOME` names.
    ///
    /// So no other user can make the directory first, as would be possible in `/tmp`. If no parent directory qualifies, every
    /// attempt to take or look up a name throws ``PortNameError/Reason/noDirectory``, which says why. Set `XDG_RUNTIME_DIR`, or
    /// use ``init(directory:)``.
    ///
    /// The process that takes a name and the processes that look it up must use the same directory. A service that starts without a
    /// login and a program in a login session of the same user may use different directories. Give both the same
    /// ``init(directory:)``. ``description`` names the directory.
    ///
    /// The directory is made if it does not exist, and must belong to the user and be closed to all other users. The program
    /// uses the directory that it has checked, even if another directory takes its path after the check. This needs `/proc`, which
    /// nearly every system has.
    public static let user = PortNames(place: .user)

    private init(place: Place) { self.place = place }

    /// Makes a place of names in a directory that the program chooses.
    ///
    /// The directory is made if it does not exist, but its parent directory is not. The directory must belong to the user and be
    /// closed to all other users.
    ///
    /// - Parameter directory: The absolute path of the directory.
    public init(directory: String) {
        if !directory.hasPrefix("/") {
            misuse(
                "PortNames.init: \(directory) is not an absolute path; pass one that begins with a slash")
        }
        place = .directory(directory)
    }

    /// Returns the process that has a name.
    ///
    /// The method connects to the port and disconnects again. The port sees a client that leaves without a message.
    ///
    /// - Parameter name: The name.
    /// - Returns: The credentials of the process when it took the name.
    /// - Throws: ``PortNameError`` if no port has the name, or the kernel refuses a call.
    ///
    /// > Thread safety: any thread.
    public func owner(of name: PortName) throws(PortNameError) -> PeerCredentials {
        let socket = try connect(to: name, before: .now)
        do { return try socket.peer } catch { throw .refused(error) }
    }
}

extension PortNames: CustomStringConvertible {
    /// The directory of the names, as in `names in /run/user/1000/run-loops`, or the reason that there is no directory.
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
