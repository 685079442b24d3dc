internal import CRunLoops
internal import Glibc
internal import RunLoops

/// A listening socket, its address, and the file that was created for it.
struct ListeningSocket: ~Copyable {
    private let owned: OwnedDescriptor
    let address: SocketAddress
    let file: SocketFile?

    /// Takes over a socket that the user passes in, and makes it non-blocking.
    ///
    /// - Throws: `SystemError` if `socket` is not a listening stream socket. The initializer closes `socket` before it throws.
    init(checking socket: consuming OwnedDescriptor) throws(SystemError) {
        let number = socket.descriptor
        _ = try systemCall("fcntl") { runloops_make_non_blocking(number) }
        if !runloops_is_stream(number) || !runloops_listens(number) {
            throw SystemError(call: "getsockopt", code: EPROTOTYPE)
        }
        try self.init(socket, file: nil)
    }

    private init(_ socket: consuming OwnedDescriptor, file: SocketFile?) throws(SystemError) {
        guard let address = SocketAddress(nameOf: socket.descriptor) else {
            throw SystemError(call: "getsockname", code: EBADF)
        }
        self.address = address
        self.file = file
        owned = socket
    }

    consuming func takeDescriptor() -> OwnedDescriptor { owned }

    /// Opens a socket that listens at an address.
    static func open(
        _ address: Listener.Address, _ options: Listener.Options
    ) throws(SystemError) -> ListeningSocket {
        let socket = try address.place.bound(namelessCode: ENAMETOOLONG) { address throws(SystemError) in
            try listen(address, options)
        }
        return try ListeningSocket(socket, file: address.place.path.map { SocketFile($0) })
    }

    private static func listen(
        _ address: SocketAddress, _ options: Listener.Options
    ) throws(SystemError) -> OwnedDescriptor {
        let settings = runloops_listen_options(
            backlog: CInt(clamping: options.backlog), reuses_port: options.reusesPort,
            takes_ipv4: options.takesIPv4)
        var call: UnsafePointer<CChar>?
        // Safe: the C function reads the address, and only writes to `call`, which then points to a constant string.
        let result = unsafe runloops_listen(address.bytes, UInt32(address.bytes.count), settings, &call)
        if result == -1 {
            let code = errno
            throw unsafe SystemError(call: call.map { unsafe String(cString: $0) } ?? "listen", code: code)
        }
        return OwnedDescriptor(result)
    }
}

/// The file of the Unix socket of a listener or a datagram socket.
///
/// The file is removed when its owner ends, unless another file has replaced it at the path.
///
/// > Thread safety: the owner's thread only.
final class SocketFile {
    private let path: String
    private let identity: [UInt64]?
    private var isKept = false

    init(_ path: String) {
        self.path = path
        identity = SocketFile.identity(of: path)
    }

    deinit { remove() }

    /// Opens a socket at a path, and replaces the file of a socket that no process has open any more.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - address: The address of the path.
    ///   - open: Opens the socket.
    /// - Returns: The socket.
    /// - Throws: The error of opening the socket.
    static func replacingStale(
        _ path: String, _ address: SocketAddress, _ open: () throws(SystemError) -> OwnedDescriptor
    ) throws(SystemError) -> OwnedDescriptor {
        // Without the lock, a process that finds the path stale could remove the file of another process that has just replaced the
        // stale file.
        let lock = unsafe runloops_lock_directory_of(path)
        defer { if lock != -1 { close(lock) } }
        do throws(SystemError) { return try open() } catch {
            guard error.code == EADDRINUSE,
                unsafe runloops_path_is_stale(address.bytes, UInt32(address.bytes.count))
            else { throw error }
            _ = unsafe unlink(path)
            return try open()
        }
    }

    private static func identity(of path: String) -> [UInt64]? {
        var identity: [UInt64] = [0, 0]
        // Safe: the C function writes two numbers, for which the array has room.
        return unsafe runloops_file_at(path, &identity) ? identity : nil
    }

    /// Prevents the later removal of the file, because another process can be listening at the path.
    func keep() { isKept = true }

    /// Removes the file, unless it is kept or was removed before.
    func remove() {
        if isKept || identity == nil { return }
        isKept = true
        if SocketFile.identity(of: path) == identity { _ = unsafe unlink(path) }
    }
}

extension Listener.Address: CustomStringConvertible {
    /// The address as text: for TCP, the port, after the host if there is one; for a Unix socket, the path or the name.
    public var description: String { place.description }

    /// The address for an error, which says if the host is a name where an address must be.
    var textForErrors: String {
        if case .port(let host?, let port) = place, SocketAddress(host: host, port: port) == nil {
            return
                "\(self) (\(PrintableText(host)) is not a numeric address; use one of this machine, such as 127.0.0.1 or ::1)"
        }
        return description
    }
}
