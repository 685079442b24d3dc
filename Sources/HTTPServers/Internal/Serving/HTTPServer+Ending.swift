internal import CHTTPDaemon
internal import RunLoops

extension HTTPServer {
    /// Starts libmicrohttpd's daemon on a listening socket; nil if the daemon cannot be started.
    func startDaemon(_ socket: CInt) -> OpaquePointer? {
        let seconds = options.idleTimeout.components
        var callbacks = daemonCallbacks()
        // Safe: the daemon is freed in `end`, and until then the source holds this object.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        func start(_ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?) -> OpaquePointer? {
            var settings = unsafe runloops_daemon_settings(
                socket: socket, connections: UInt32(clamping: options.connectionLimit),
                connections_of_address: UInt32(clamping: options.connectionLimitOfPeer ?? 0),
                connection_memory: options.connectionMemory,
                idle_seconds: UInt32(clamping: seconds.seconds + (seconds.attoseconds > 0 ? 1 : 0)),
                certificate: certificate, key: key)
            return unsafe runloops_daemon_new(&settings, &callbacks, context)
        }
        guard let identity = options.identity else { return unsafe start(nil, nil) }
        // Safe: the daemon parses the certificate and the key before the call that starts it returns.
        return unsafe identity.certificate.withCString { certificate in
            unsafe identity.key.withCString { key in unsafe start(certificate, key) }
        }
    }

    /// Ends all requests, and frees libmicrohttpd's memory.
    ///
    /// The source calls this when it is invalidated.
    func end() {
        guard let ended = unsafe daemon else { return }
        // If a connection is suspended when the daemon is freed, libmicrohttpd ends the program.
        for link in links { link.exchange?.resume() }
        unsafe daemon = nil
        source = nil
        listeningSocket = -1
        unsafe runloops_daemon_free(ended)
        deliverAll()
        let released = (requestHandler, headerHandler)
        requestHandler = nil
        headerHandler = nil
        callStopHandlers()
        withExtendedLifetime(released) {}
    }

    /// Calls the handlers that were passed to ``stop(within:onStopped:)``, unless another handler of the server is on the stack.
    ///
    /// Call this only when the server is invalid.
    func callStopHandlers() {
        if isDelivering { return }
        let handlers = stopping?.handlers ?? []
        stopping = nil
        for handler in handlers { handler(self) }
    }
}
