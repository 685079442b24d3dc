import Glibc
public import RunLoops
public import Streams

/// The service manager that has started this process, such as systemd.
///
/// Without a service manager there is no socket, and notices do nothing. So the same program also runs in a terminal.
public enum ServiceManager {
    /// A unit file that does not fit the program.
    public struct Mismatch: Error, CustomStringConvertible {
        /// The difference, in words.
        public let description: String
    }

    /// Takes over the listening socket that the service manager has opened for this process: socket activation.
    ///
    /// Call this once, at the start, before there are other threads.
    ///
    /// - Returns: The socket, or nil without socket activation.
    /// - Throws: ``Mismatch`` if there is more than one socket.
    public static func takeSocket() throws -> OwnedDescriptor? {
        var sockets = try OwnedDescriptor.socketsOfServiceManager()
        let count = sockets.count
        if count > 1 {
            throw Mismatch(description: "\(count) sockets were passed, and this program listens at one")
        }
        return sockets.takeFirst()
    }

    /// Sends the service manager a state of this process: `READY=1`, `STOPPING=1` or another state of `sd_notify(3)`.
    ///
    /// Any thread can call this. A notice that cannot be sent is logged.
    ///
    /// - Parameter state: The state.
    public static func notify(_ state: String) {
        guard let place = variable("NOTIFY_SOCKET"), !place.isEmpty else { return }
        var name = Array(place.utf8)
        // An abstract name begins with a zero byte, for which the variable has an @.
        if name[0] == UInt8(ascii: "@") { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return log("NOTIFY_SOCKET is too long: \(place)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = (MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0) + name.count
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if descriptor < 0 { return log("\(state) was not sent: errno \(errno)") }
        defer { close(descriptor) }
        let bytes = Array(state.utf8)
        let sent = withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, socklen_t(length))
            }
        }
        if sent < 0 { log("\(state) was not sent to \(place): errno \(errno)") }
    }

    /// Prints the address, tells the service manager that this process is ready, and from now on that it is alive.
    ///
    /// - Parameter address: The address at which this process listens.
    public static func reportReady(listeningAt address: SocketAddress) {
        announce("listening at \(address)")
        notify("READY=1")
        reportLiveness()
    }

    /// Tells the service manager twice in each watchdog interval that the loop of this thread serves its timers.
    ///
    /// If a handler blocks the loop for longer than the interval, the service manager restarts the process. Without a watchdog,
    /// nothing happens.
    private static func reportLiveness() {
        guard let interval = variable("WATCHDOG_USEC").flatMap({ Int($0) }), interval > 0 else { return }
        if let process = variable("WATCHDOG_PID").flatMap({ pid_t($0) }), process != getpid() { return }
        let timer = Timer(timeInterval: .microseconds(max(1, interval / 2)), repeats: true) { _ in
            notify("WATCHDOG=1")
        }
        RunLoop.current.add(timer, forMode: .common)
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
