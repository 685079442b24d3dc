import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedStreamTests {
    /// The kinds of objects.
    enum Kind: String, Codable, CaseIterable {
        case connection, pipes, connecting, listener, datagrams

        /// Adds an object of the kind to two modes of the current loop.
        ///
        /// - Returns: The words for the kind, and the line.
        fileprivate func add() throws -> (String, Int) {
            switch self {
            case .connection:
                let near = try Wire.sockets().giveAwayNear()
                let (connection, line) = (try Connection(OwnedDescriptor(near)), #line)
                return try add(connection, "connection", line)
            case .pipes:
                let input = try OwnedDescriptor.pipe()
                let output = try OwnedDescriptor.pipe()
                let line = #line + 1
                let connection = try Connection(reading: input.readingEnd, writing: output.writingEnd)
                return try add(connection, "connection", line)
            case .connecting:
                let (socket, port) = try Loopback.listen()
                let endpoint = Endpoint.tcp(host: "127.0.0.1", port: port)
                let (connection, line) = (Connection(connectingTo: endpoint), #line)
                defer { Loopback.close(socket) }
                return try add(connection, "connection", line)
            case .listener:
                let (listener, line) = (try Listener(.tcp(host: "127.0.0.1", port: 0)), #line)
                for mode in Kind.modes { try RunLoop.current.add(listener, forMode: mode) { _ = $0 } }
                return ("listener", line)
            case .datagrams:
                let (socket, line) = (try DatagramSocket(.udp(host: "127.0.0.1", port: 0)), #line)
                return try add(socket, "datagram socket", line)
            }
        }

        private static let modes = [RunLoop.Mode.default, RunLoop.Mode("other")]

        private func add(
            _ input: some RunLoopInput, _ words: String, _ line: Int
        ) throws -> (String, Int) {
            for mode in Kind.modes { try RunLoop.current.add(input, forMode: mode) }
            return (words, line)
        }
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test(arguments: Kind.allCases)
    func `an object of each kind that was never served is reported once, with its place`(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            let added = Log<(String, Int)>()
            let lines = try unservedLines { added.add(try kind.add()) }
            let (words, line) = added.entries[0]
            #expect(lines.count == 1, "\(lines)")
            let place = "made at StreamsTests/UnservedStreamTests.swift:\(line);"
            #expect(lines.allSatisfy { $0.contains(words) && $0.contains(place) }, "\(lines)")
        }
    }

    @Test(arguments: StreamSpecimen.Kind.allCases, StreamSpecimen.Act.allCases)
    func `an object that another thread has ended or removed is not reported`(
        kind: StreamSpecimen.Kind, act: StreamSpecimen.Act
    ) async {
        await #expect(processExitsWith: .success) { [kind, act] in
            let lines = try unservedLines {
                let specimen = try StreamSpecimen(kind)
                try BareThread { specimen.act(act) }.join()
                specimen.clean()
            }
            #expect(lines == [])
        }
    }
}
