import HTTPServers
import RunLoops
import Streams
import TestSupport
import Testing

/// A server on the loop of its own thread, for a test that is its client.
final class Serving: Sendable {
    let port: UInt16
    let thread: RunLoopThread
    private let held: Held

    /// A server that only the thread of its loop uses.
    ///
    /// `@unchecked`: only blocks on the loop use the server.
    private final class Held: @unchecked Sendable {
        var server: HTTPServer?
    }

    /// Starts the thread.
    ///
    /// - Parameter makeServer: Called on the thread.
    /// - Throws: The error of `makeServer`.
    init(_ makeServer: @escaping @Sendable (RunLoop) throws -> HTTPServer) throws {
        thread = try RunLoopThread(name: "server")
        let loop = thread.runLoop
        let held = Held()
        self.held = held
        port = try Serving.wait(on: loop) {
            let server = try makeServer(loop)
            held.server = server
            return server.localAddress.port ?? 0
        }
    }

    /// Serves a socket that already listens.
    convenience init(
        socket: consuming OwnedDescriptor, _ handler: @escaping @Sendable (HTTPExchange) -> Void
    ) throws {
        let number = socket.release()
        try self.init { loop in
            let server = try HTTPServer(OwnedDescriptor(number))
            try loop.add(server, forMode: .default, handler: handler)
            return server
        }
    }

    /// Duplicates the listening socket.
    func duplicateSocket() throws -> OwnedDescriptor {
        OwnedDescriptor(try perform { try $0.duplicateSocket().release() })
    }

    /// Stops the server gracefully, and waits for its end.
    func stop(endsThread: Bool = true) throws {
        let gate = Gate()
        try perform { $0.stop { _ in gate.open() } }
        #expect(gate.wait())
        if endsThread { try end() }
    }

    /// Performs a block on the server's loop, and waits for its result.
    @discardableResult
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (HTTPServer) throws -> Result
    ) throws -> Result {
        let held = held
        return try Serving.wait(on: thread.runLoop) {
            let server = try #require(held.server)
            return try body(server)
        }
    }

    private static func wait<Result: Sendable>(
        on loop: RunLoop, _ body: @escaping @Sendable () throws -> Result
    ) throws -> Result {
        let result = Locked<Swift.Result<Result, any Error>?>(nil)
        let gate = Gate()
        loop.perform {
            let outcome = Swift.Result { try body() }
            result.withLock { $0 = outcome }
            gate.open()
        }
        #expect(gate.wait())
        return try #require(result.withLock { $0 }).get()
    }

    /// Stops the server at once, and its thread.
    func end() throws {
        let held = held
        try Serving.wait(on: thread.runLoop) {
            held.server?.invalidate()
            held.server = nil
        }
        thread.stop()
        thread.join()
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}

/// Runs the body of a test as the client of a server.
func withServer(
    _ options: HTTPServer.Options = HTTPServer.Options(),
    setUp: @escaping @Sendable (HTTPServer) -> Void = { _ in },
    handler: @escaping @Sendable (HTTPExchange) -> Void = {
        $0.respond(.text("Hello, world!"))
    },
    _ body: (Serving) throws -> Void
) throws {
    let serving = try Serving { loop in
        let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0), options: options)
        setUp(server)
        try loop.add(server, forMode: .default, handler: handler)
        return server
    }
    do { try body(serving) } catch {
        try serving.end()
        throw error
    }
    try serving.end()
}
