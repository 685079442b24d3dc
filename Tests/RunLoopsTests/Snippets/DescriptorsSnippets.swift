import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Descriptors".
@Suite struct DescriptorsSnippets {
    private let print = Printed()

    private func beginToConnect(to port: UInt16) throws -> CInt { try Loopback.connect(to: port) }

    private func send(_ text: String, to socket: CInt) throws {
        #expect(try Loopback.write(text.utf8, to: socket) == text.utf8.count)
        Loopback.endSending(socket)
    }

    private func receive(from socket: CInt) -> String {
        do {
            return String(decoding: try Loopback.read(socket) ?? [], as: UTF8.self)
        } catch {
            Issue.record(error)
            return ""
        }
    }

    let network = RunLoop.Mode("com.example.network")

    func connect(to port: UInt16) throws {
        let socket = try beginToConnect(to: port)
        let connecting = DescriptorSource(socket, interest: .write) { source, _ in
            source.invalidate()
            do { try exchange(on: socket) } catch { print("no connection:", error) }
        }
        do {
            try RunLoop.current.add(connecting, forMode: network)
        } catch {
            close(socket)
            throw error
        }
    }

    func exchange(on socket: CInt) throws {
        // Owns the socket from here on, whatever is thrown.
        let answers = DescriptorSource(OwnedDescriptor(socket), interest: .read) { source, readiness in
            let text = receive(from: source.descriptor)
            if text.isEmpty { source.invalidate() } else { print("received", text) }
        }
        try send("hello", to: socket)
        try RunLoop.current.add(answers, forMode: network)
    }

    @Test func `a connection is served in its mode until the other side has ended`() throws {
        let server = try EchoServer()
        defer { server.stop() }
        let port = server.port
        try onLoopThread { loop in
            try connect(to: port)
            RunLoop.current.run(in: network, until: .now + .seconds(10))
            // On a busy machine the exchange can take longer.
            loop.run(in: network, until: .hang)
        }
        #expect(print.lines == ["received hello"])
    }

    private struct Store {
        private(set) var bytes: [UInt8] = []
        var isFull: Bool { bytes.count >= 4 }
        mutating func append(_ more: [UInt8]) { bytes += more }
        mutating func empty() { bytes = [] }
    }

    @Test func `a source is paused while what it reads has no place`() throws {
        let wire = try Wire.sockets()
        defer { wire.close() }
        try onLoopThread { loop in
            var store = Store()
            func take(_ bytes: [UInt8], from source: DescriptorSource) {
                store.append(bytes)
                if store.isFull { source.interest = [] }
            }

            func storeHasRoom(for source: DescriptorSource) { source.interest = .read }
            let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                take([UInt8](repeating: 0, count: wire.drain()), from: source)
            }
            try loop.add(source, forMode: .default)
            for count in [4, 3] {
                wire.send(count)
                loop.pass()
            }
            #expect(store.bytes.count == 4)
            store.empty()
            storeHasRoom(for: source)
            loop.pass()
            #expect(store.bytes.count == 3)
            source.invalidate()
        }
    }
}
