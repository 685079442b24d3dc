import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The program `logger` of Debian's package bsdutils sends to a socket as to a server of syslog.
@Suite struct LoggerTests {
    private static let isInstalled = unsafe access("/usr/bin/logger", X_OK) == 0

    @Test(.enabled(if: isInstalled)) func `each line of logger is a datagram, over a Unix socket and UDP`()
        throws
    {
        try onLoopThread { loop in
            let stage = DatagramStage(loop)
            let directory = try ScratchDirectory()
            let path = "\(directory.path)/log"
            let local = try stage.socket(.unix(path: path), "local ")
            let network = try stage.socket(.udp(host: "127.0.0.1", port: 0), "network ")
            let port = try #require(network.localAddress.port)
            let child = Child(
                shell: """
                    logger --socket \(path) --priority daemon.err --tag test one &&
                    logger --socket \(path) --priority local3.warning --tag test two &&
                    logger --server 127.0.0.1 --port \(port) --udp --rfc3164 --priority user.info --tag test three
                    """)
            loop.run(until: "three lines") { stage.list.count == 3 }
            #expect(child.wait() == .exited(0))
            let lines = stage.take()
            // The number in front is 8 times the facility, and the severity.
            let expected = [("local <27>", "one"), ("local <156>", "two"), ("network <14>", "three")]
            for (line, (begin, end)) in zip(lines, expected) {
                #expect(line.hasPrefix(begin) && line.hasSuffix("test: \(end)"), "\(line)")
            }
            #expect(stage.senders.map(\.host) == [nil, nil, "127.0.0.1"])
            local.close()
            network.close()
        }
    }
}
