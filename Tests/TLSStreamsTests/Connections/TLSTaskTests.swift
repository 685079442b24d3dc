import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// Tasks on the loop use a connection with TLS like any other.
@Suite struct TLSTaskTests {
    private actor Talker {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(_ loop: RunLoop) { self.loop = loop }

        /// Echoes lines until the peer's stream ends.
        func serve(_ socket: CInt, _ context: TLSServerContext) async throws -> Int {
            let connection = try Connection(OwnedDescriptor(socket), tls: context)
            try loop.add(connection, forMode: .default)
            try await connection.connected()
            var count = 0
            for try await line in connection.frames(.lines(upTo: 100_000)) {
                count += 1
                if !connection.write(line + [0x0a]) { try await connection.drained() }
            }
            connection.closeAfterWriting()
            _ = await connection.ended()
            return count
        }

        /// Sends lines, and returns the number of received bytes.
        func talk(_ socket: CInt, _ context: TLSClientContext, name: String = "localhost") async throws
            -> Int
        {
            let connection = try Connection(OwnedDescriptor(socket), tls: context, serverName: name)
            try loop.add(connection, forMode: .default)
            try await connection.connected()
            let line = [UInt8](repeating: 0x61, count: 9_999) + [0x0a]
            for _ in 0..<100 { connection.write(line) }
            connection.endOutput()
            var count = 0
            for try await piece in connection.pieces() { count += piece.count }
            return count
        }

        /// Waits for a connection whose peer sends nothing, until the task is cancelled.
        func wait(_ socket: CInt, _ context: TLSServerContext, _ begun: Gate) async throws {
            let connection = try Connection(OwnedDescriptor(socket), tls: context)
            try loop.add(connection, forMode: .default)
            begun.open()
            try await connection.connected()
        }
    }

    // Guarantees: Tasks use a connection with TLS like any other connection.
    @Test func `tasks echo and read to the end`() async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        let ends = try Loopback.pair()
        let server = try Certificates.server()
        let client = try Certificates.client()
        async let served = talker.serve(ends.0, server)
        #expect(try await talker.talk(ends.1, client) == 1_000_000)
        #expect(try await served == 100)
        thread.stop()
        await thread.join()
    }

    @Test func `a task gets the cause of a failed hand-shake`() async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        let ends = try Loopback.pair()
        let server = try Certificates.server()
        let client = try Certificates.client()
        let served = Task { try await talker.serve(ends.0, server) }
        await #expect {
            _ = try await talker.talk(ends.1, client, name: "wrong.test")
        } throws: { error in
            guard case .tls(let failure) = (error as? ConnectionEndedError)?.reason else { return false }
            return failure.reason == .nameMismatch && !failure.isFromPeer
        }
        await #expect {
            _ = try await served.value
        } throws: { error in
            guard case .tls(let failure) = (error as? ConnectionEndedError)?.reason else { return false }
            return failure.reason == .badCertificate && failure.isFromPeer
        }
        thread.stop()
        await thread.join()
    }

    @Test func `a task that is cancelled in the hand-shake ends the connection`() async throws {
        let thread = try RunLoopThread(name: "talker")
        let talker = Talker(thread.runLoop)
        let ends = try Loopback.pair()
        let server = try Certificates.server()
        let begun = Gate()
        let task = Task { try await talker.wait(ends.0, server, begun) }
        await yieldUntil("it waits") { begun.wait(seconds: 0) }
        task.cancel()
        await #expect(throws: ConnectionEndedError(reason: .cancelled)) { try await task.value }
        await yieldUntil("the socket is closed") { (try? Loopback.read(ends.1))?.isEmpty ?? false }
        Loopback.close(ends.1)
        thread.stop()
        await thread.join()
    }
}
