import RunLoops
import TestSupport
import Testing

/// One end of a TCP connection in a loop, which writes bytes as far as there is room, and the rest later.
///
/// Use it on the loop's thread only. The sources hold it until it is closed.
final class Connection {
    /// The events of a connection.
    enum Event: Equatable {
        case connected
        case received([UInt8])
        /// The other end sends no more bytes.
        case ended
        case failed(CInt)
    }

    private let loop: RunLoop
    private let mode: RunLoop.Mode
    private let socket: CInt
    private let handler: (Connection, Event) -> Void
    private var reading: DescriptorSource?
    private var writing: DescriptorSource?
    private var isConnected: Bool
    private var unsent: ArraySlice<UInt8> = []
    /// The number of writes that did not accept all bytes.
    private(set) var partialWrites = 0
    private var endsSending = false

    /// Takes over a socket that is connected, or still connecting.
    init(
        _ socket: CInt, isConnected: Bool, in loop: RunLoop, mode: RunLoop.Mode,
        handler: @escaping (Connection, Event) -> Void
    ) throws {
        (self.socket, self.isConnected, self.loop, self.mode) = (socket, isConnected, loop, mode)
        self.handler = handler
        let reading = DescriptorSource(socket, interest: .read) { [self] _, _ in read() }
        let writing = DescriptorSource(socket, interest: .write) { [self] _, _ in write() }
        (self.reading, self.writing) = (reading, writing)
        try loop.add(isConnected ? reading : writing, forMode: mode)
    }

    /// Sends bytes, now or when there is room.
    func send(_ bytes: [UInt8]) {
        unsent.append(contentsOf: bytes)
        if isConnected { write() }
    }

    /// Ends the sending direction after all bytes were sent.
    func endSending() {
        endsSending = true
        if isConnected { write() }
    }

    func close() {
        guard let reading, let writing else { return }
        (self.reading, self.writing) = (nil, nil)
        reading.invalidate()
        writing.invalidate()
        Loopback.close(socket)
    }

    private func read() {
        do {
            guard let bytes = try Loopback.read(socket) else { return }
            handler(self, bytes.isEmpty ? .ended : .received(bytes))
        } catch {
            fail(error)
        }
    }

    private func write() {
        guard let reading, let writing else { return }
        do {
            if !isConnected {
                let code = Loopback.error(of: socket)
                if code != 0 { throw SystemError(call: "connect", code: code) }
                isConnected = true
                try loop.add(reading, forMode: mode)
                handler(self, .connected)
                if self.writing == nil { return }
            }
            while !unsent.isEmpty {
                let count = try Loopback.write(unsent.prefix(65_536), to: socket)
                if count == 0 { break }
                unsent = unsent.dropFirst(count)
            }
            if unsent.isEmpty {
                // The source is level-triggered, and would otherwise report room continuously.
                loop.remove(writing, forMode: mode)
                if endsSending { Loopback.endSending(socket) }
            } else {
                partialWrites += 1
                try loop.add(writing, forMode: mode)
            }
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: any Error) {
        close()
        handler(self, .failed((error as? SystemError)?.code ?? -1))
    }
}

/// A server that sends back all received bytes, on a thread with its own loop.
final class EchoServer: Sendable {
    let port: UInt16
    private let thread: RunLoopThread

    init() throws {
        let (socket, port) = try Loopback.listen()
        self.port = port
        thread = try RunLoopThread(name: "server")
        let loop = thread.runLoop
        try loop.performAndWait {
            let source = DescriptorSource(OwnedDescriptor(socket), interest: .read) { source, _ in
                while let accepted = Loopback.accept(source.descriptor) {
                    do { try EchoServer.serve(accepted, loop) } catch { Issue.record(error) }
                }
            }
            try loop.add(source, forMode: .default)
        }
    }

    private static func serve(_ socket: CInt, _ loop: RunLoop) throws {
        _ = try Connection(socket, isConnected: true, in: loop, mode: .default) { connection, event in
            switch event {
            case .connected: break
            case .received(let bytes): connection.send(bytes)
            case .ended: connection.close()
            case .failed(let code): Issue.record("the server's connection failed: \(code)")
            }
        }
    }

    /// Ends the thread and its listener.
    func stop() {
        thread.stop()
        thread.join(before: .hang)
    }
}
