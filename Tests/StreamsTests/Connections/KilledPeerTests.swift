import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// A connection reports that the process at its other end was killed, and leaves nothing open.
@Suite struct KilledPeerTests {
    /// What is between the connection and the process.
    private enum Way: CaseIterable {
        case pipes, socket
        /// A terminal of which the connection has the end of an emulator, or that of a program.
        case emulator, program
    }

    /// A connection, and the descriptors of the other end, which the process reads from and writes to.
    private struct Ends {
        let connection: Connection
        let reading: CInt
        let writing: CInt

        init(_ way: Way) throws {
            switch way {
            case .pipes:
                let toPeer = try OwnedDescriptor.pipe()
                let fromPeer = try OwnedDescriptor.pipe()
                connection = try Connection(reading: fromPeer.readingEnd, writing: toPeer.writingEnd)
                reading = toPeer.readingEnd.release()
                writing = fromPeer.writingEnd.release()
            case .socket:
                let (near, far) = try Loopback.pair()
                _ = fcntl(far, F_SETFL, 0)
                connection = try Connection(OwnedDescriptor(near))
                (reading, writing) = (far, far)
            case .emulator, .program:
                let terminal = try Terminal()
                let (near, far) =
                    way == .emulator
                    ? (terminal.emulator, terminal.program) : (terminal.program, terminal.emulator)
                connection = try Connection(OwnedDescriptor(near))
                (reading, writing) = (far, far)
            }
        }

        /// Starts the process, which then has the only descriptors of the other end.
        func start(_ body: (Ends) -> Void) -> Child {
            let child = Child {
                body(self)
                while true { pause() }
            }
            for end in Set([reading, writing]) { close(end) }
            return child
        }
    }

    /// Writes numbered lines for ever, the number and the end of each line apart.
    private static func writeLines(_ ends: Ends) {
        var number = 0
        while true {
            let digits = "\(number)"
            _ = unsafe write(ends.writing, digits, digits.utf8.count)
            _ = unsafe write(ends.writing, "\n", 1)
            number += 1
        }
    }

    /// Runs a test in a process of its own, which counts the descriptors that are left.
    private static func withAllWays(
        rounds: Int, _ body: @escaping @Sendable (RunLoop, Way, Ends) throws -> Void
    ) throws {
        try onLoopThread { loop in
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            let warm = try Ends(.socket)
            try loop.add(warm.connection, forMode: .default)
            warm.connection.close()
            close(warm.reading)
            loop.settle()
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            for round in 0..<rounds * Way.allCases.count {
                let way = Way.allCases[round % Way.allCases.count]
                try body(loop, way, try Ends(way))
                loop.settle()
                try #require(openDescriptors(from: bound) == 0, "\(way)")
            }
        }
    }

    @Test func `a writer that is killed loses no line before the last one, and its end is reported once`()
        async
    {
        await #expect(processExitsWith: .success) {
            try KilledPeerTests.withAllWays(rounds: 5) { loop, way, ends in
                var (lines, misplaced) = (0, 0)
                var reasons: [Connection.EndReason] = []
                let child = ends.start(KilledPeerTests.writeLines)
                ends.connection.onFrame(.lines()) { _, line in
                    if text(line) != "\(lines)" { misplaced += 1 }
                    lines += 1
                    if lines == 1_000 { kill(child.processID, SIGKILL) }
                }
                ends.connection.onEnd { reasons.append($1) }
                ends.connection.options.lingerTimeout = .zero
                try loop.add(ends.connection, forMode: .default)
                loop.run(until: "the end of \(way)") { !reasons.isEmpty }
                loop.settle()
                try #require(child.wait() == .killed(SIGKILL))
                try #require(lines >= 1_000 && misplaced == 0, "\(way)")
                let expected: [Connection.EndReason] = [.peerClosed, .incompleteInput, .reset]
                try #require(reasons.count == 1 && expected.contains(reasons[0]), "\(way): \(reasons)")
            }
        }
    }

    // Guarantees: A reader that has gone ends a connection over pipes or a terminal, and raises no signal.
    @Test(arguments: [false, true])
    func `a reader that is killed before it has read all resets the connection, which does not spin`(
        isPaused: Bool
    ) async {
        await #expect(processExitsWith: .success) { [isPaused] in
            try KilledPeerTests.withAllWays(rounds: 3) { loop, way, ends in
                let connection = ends.connection
                var reasons: [Connection.EndReason] = []
                var hasBegun = false
                let child = ends.start { ends in _ = unsafe write(ends.writing, "ready\n", 6) }
                connection.onFrame(.lines()) { connection, _ in
                    hasBegun = true
                    connection.isReadingPaused = isPaused
                }
                connection.onEnd { reasons.append($1) }
                connection.options.writeTimeout = nil
                try loop.add(connection, forMode: .default)
                loop.run(until: "the process runs") { hasBegun }
                connection.write([UInt8](repeating: 0x61, count: 1_000_000))
                loop.settle()
                try #require(connection.unsentByteCount > 0)
                kill(child.processID, SIGKILL)
                try #require(child.wait() == .killed(SIGKILL))
                let passes = loop.statistics.passes
                loop.run(until: "the end of \(way)") { !reasons.isEmpty }
                try #require(loop.statistics.passes - passes < 1_000, "\(way)")
                loop.settle()
                try #require(reasons == [.reset], "\(way): \(reasons)")
            }
        }
    }

    @Test func `a connection that receives nothing notices that a process was killed`() async {
        await #expect(processExitsWith: .success) {
            try KilledPeerTests.withAllWays(rounds: 1) { loop, way, ends in
                var reasons: [Connection.EndReason] = []
                let child = ends.start { _ in }
                ends.connection.onEnd { reasons.append($1) }
                ends.connection.options.lingerTimeout = .zero
                try loop.add(ends.connection, forMode: .default)
                loop.settle()
                try #require(reasons.isEmpty)
                kill(child.processID, SIGKILL)
                try #require(child.wait() == .killed(SIGKILL))
                loop.run(until: "the end of \(way)") { !reasons.isEmpty }
                try #require(reasons.count == 1 && [.peerClosed, .reset].contains(reasons[0]), "\(way)")
            }
        }
    }

    /// A terminal that passes on bytes unchanged.
    private struct Terminal {
        let emulator: CInt
        let program: CInt

        init() throws {
            // Swift does not import `posix_openpt`. The numbers are those of TIOCSPTLCK and TIOCGPTPEER.
            emulator = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var isLocked: CInt = 0
            try #require(unsafe emulator >= 0 && ioctl(emulator, 0x4004_5431, &isLocked) == 0)
            program = ioctl(emulator, 0x5441, O_RDWR | O_NOCTTY | O_CLOEXEC)
            var settings = termios()
            // Safe: the C functions read and fill a local variable.
            try #require(unsafe program >= 0 && tcgetattr(program, &settings) == 0)
            unsafe cfmakeraw(&settings)
            try #require(unsafe tcsetattr(program, TCSANOW, &settings) == 0)
        }
    }
}
