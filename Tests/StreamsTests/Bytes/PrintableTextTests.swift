import RunLoops
import Streams
import TestSupport
import Testing

/// Names that a peer or a caller has chosen change no terminal and no line of a log.
@Suite struct PrintableTextTests {
    private static let hostile = "a\u{1b}[2Jb\nc\u{85}\u{2028}\u{202e}\u{7f}é"
    private static let printed = #"a\u{1b}[2Jb\u{a}c\u{85}\u{2028}\u{202e}\u{7f}é"#

    @Test func `descriptions of addresses contain no control characters`() throws {
        let (hostile, printed) = (PrintableTextTests.hostile, PrintableTextTests.printed)
        let address = try #require(SocketAddress(abstractName: hostile))
        #expect(address.description == "@" + printed)
        #expect(try #require(SocketAddress(path: hostile)).description == printed)
        #expect(Endpoint.tcp(host: hostile, port: 1).description == printed + ":1")
        #expect(Endpoint.unix(path: hostile).description == printed)
        #expect(Listener.Address.unix(path: hostile).description == printed)
        #expect(Listener.Address.abstract(name: hostile).description == "@" + printed)
    }

    @Test func `the name of a host that was not found is printed without control characters`() throws {
        try onLoopThread { loop in
            let connection = Connection(connectingTo: .tcp(host: PrintableTextTests.hostile, port: 1))
            var text = ""
            connection.onEnd { text = "\($1)" }
            try loop.add(connection, forMode: .default)
            loop.run()
            #expect(text.hasPrefix(PrintableTextTests.printed + ": "))
        }
    }
}
