import Foundation
import Testing

extension Examples {
    /// The HTTP server on several loops, with plain sockets as clients.
    @Suite struct HTTPLoopsTests {
        /// Sends a request, and returns the loop and the number in the answer.
        private func ask(_ peer: Peer) throws -> (loop: String, number: Int) {
            try peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            while let line = try peer.line() {
                let words = line.split(separator: " ")
                guard words.first == "loop", words.count == 4, let number = Int(words[3]) else { continue }
                return (String(words[1]), number)
            }
            throw Failure("no answer")
        }

        @Test func `all loops serve the port, and a stop ends all of them`() throws {
            let server = try ServerProcess("http-loops", "--port", "0", "--loops", "3")
            let port = try server.port()
            var loops: Set<String> = []
            var numbers: [Int] = []
            var peers: [Peer] = []
            // The kernel spreads the connections by a hash of their ports.
            while loops.count < 3 && peers.count < 1_000 {
                let peer = try Peer(port: port)
                for _ in 0..<2 {
                    let answer = try ask(peer)
                    loops.insert(answer.loop)
                    numbers.append(answer.number)
                }
                peers.append(peer)
            }
            #expect(loops == ["0,", "1,", "2,"])
            #expect(numbers == Array(1...numbers.count))
            server.signal(SIGTERM)
            for peer in peers { #expect(try peer.drain() == .closed) }
            #expect(try server.end() == 0)
            #expect(Set(server.errors.all) == Set((0..<3).map { "server \($0) has ended" }))
        }

        @Test func `a port that another server has is refused`() throws {
            let listener = try PeerListener()
            let server = try ServerProcess("http-loops", "--port", "\(listener.port)")
            _ = try server.errors.line { $0.hasSuffix("bind: Address already in use (98)") }
            #expect(try server.end() == 1)
        }
    }
}
