internal import Glibc

extension OwnedDescriptor {
    /// Takes over the sockets that the service manager, such as systemd, has opened for this process: socket activation.
    ///
    /// The service manager listens at the sockets of a unit before it starts the program, and while it restarts the program, so no
    /// client is refused.
    ///
    /// ```swift
    /// var sockets = try OwnedDescriptor.socketsOfServiceManager()
    /// let listener =
    ///     if let socket = sockets.takeFirst() { try Listener(socket) } else { try Listener(.tcp(port: 7000)) }
    /// ```
    ///
    /// The sockets are in the order of their units. They become close-on-exec, and the variables of the environment that describe
    /// them are removed, so that child programs do not take them over, and a second call returns none.
    ///
    /// - Returns: The sockets; none if no service manager has started this process, or if it has opened none.
    /// - Throws: ``SystemError`` if the variables name a descriptor that is not open. The sockets before it are closed then.
    ///
    /// > Thread safety: any thread, but only while no other thread uses the environment: call it at the start.
    public static func socketsOfServiceManager() throws(SystemError) -> OwnedDescriptors {
        try socketsOfServiceManager(from: 3)
    }

    /// Takes over the sockets that begin at a given descriptor; tests pass another one than 3.
    package static func socketsOfServiceManager(from first: CInt) throws(SystemError) -> OwnedDescriptors {
        let process = number(in: "LISTEN_PID")
        let count = number(in: "LISTEN_FDS") ?? 0
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { _ = unsafe unsetenv(name) }
        var sockets = OwnedDescriptors()
        // The variables can be inherited, and be meant for another process.
        if process != getpid() { return sockets }
        for index in 0..<max(0, count) {
            let descriptor = first + index
            _ = try systemCall("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            sockets.append(OwnedDescriptor(descriptor))
        }
        return sockets
    }

    private static func number(in variable: String) -> CInt? {
        unsafe getenv(variable).flatMap { unsafe CInt(String(cString: $0)) }
    }
}
