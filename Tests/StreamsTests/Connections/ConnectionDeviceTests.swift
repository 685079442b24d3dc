import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Connections over terminals and devices, and descriptors that are no streams.
@Suite struct ConnectionDeviceTests {
    /// The connection has the end that a terminal emulator has, or the end that a program has.
    @Test(arguments: [false, true])
    func `a terminal whose other end is closed has ended its stream`(isOfProgram: Bool) throws {
        try onLoopThread { loop in
            // Swift does not import `posix_openpt`. The numbers are those of TIOCSPTLCK and TIOCGPTPEER.
            let emulator = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var isLocked: CInt = 0
            try #require(unsafe emulator >= 0 && ioctl(emulator, 0x4004_5431, &isLocked) == 0)
            let program = ioctl(emulator, 0x5441, O_RDWR | O_NOCTTY | O_CLOEXEC)
            try #require(program >= 0)
            let (near, far) = isOfProgram ? (program, emulator) : (emulator, program)
            let connection = try Connection(OwnedDescriptor(near))
            let calls = Calls()
            calls.watch(connection)
            try loop.add(connection, forMode: .default)
            #expect(unsafe write(far, "one\n", 4) == 4)
            loop.run(until: "a line") { !calls.list.isEmpty }
            #expect(connection.write("hello\n"))
            loop.settle()
            // The terminal echoes what is written at the end of the emulator, and ends its lines with two bytes.
            var bytes = [UInt8](repeating: 0, count: 100)
            var count = 0
            while count < (isOfProgram ? 12 : 6) {
                let more = unsafe read(far, &bytes, 100)
                try #require(more > 0)
                count += more
            }
            #expect(count == (isOfProgram ? 12 : 6))
            close(far)
            connection.options.lingerTimeout = .zero
            loop.run(until: "it ends") { !connection.isOpen }
            loop.settle()
            #expect(calls.list.first == "one\r" || calls.list.first == "one")
            #expect(calls.list.last == "end: closed by the peer")
        }
    }

    @Test func `the null device ends at once as input, and takes everything as output`() throws {
        try onLoopThread { loop in
            for isPair in [false, true] {
                let input = try OwnedDescriptor(nullDevice(isPair ? O_RDONLY : O_RDWR))
                let connection =
                    isPair
                    ? try Connection(reading: input, writing: OwnedDescriptor(nullDevice(O_WRONLY)))
                    : try Connection(input)
                var (hasEnded, reason): (Bool, Connection.EndReason?) = (false, nil)
                connection.onReceive { _, bytes in bytes.byteCount }
                connection.onInputEnd { _ in hasEnded = true }
                connection.onEnd { reason = $1 }
                try loop.add(connection, forMode: .default)
                for _ in 0..<10 { connection.write([UInt8](repeating: 0, count: 100_000)) }
                loop.run(until: "the input ends") { hasEnded }
                loop.settle()
                #expect(connection.unsentByteCount == 0 && connection.sentByteCount == 1_000_000)
                connection.closeAfterWriting()
                loop.run(until: "it ends") { reason != nil }
                #expect(reason == .closed)
            }
        }
    }

    private func nullDevice(_ flags: CInt) throws -> CInt {
        let opened = unsafe open("/dev/null", flags | O_CLOEXEC)
        try #require(opened >= 0)
        return opened
    }

    @Test(arguments: [false, true])
    func `without a receiver, the end of a pipe is noticed once nothing is left in it`(hasBytes: Bool) throws
    {
        try onLoopThread { loop in
            let pipe = try OwnedDescriptor.pipe()
            let connection = try Connection(pipe.readingEnd)
            let writer = pipe.writingEnd.release()
            var reasons: [Connection.EndReason] = []
            connection.onEnd { reasons.append($1) }
            try loop.add(connection, forMode: .default)
            loop.settle()
            if hasBytes { #expect(unsafe Glibc.write(writer, "one\n", 4) == 4) }
            close(writer)
            for _ in 0..<5 { loop.pass() }
            #expect(reasons == (hasBytes ? [] : [.peerClosed]))
            if !hasBytes { return }
            var lines: [String] = []
            connection.onFrame(.lines()) { lines.append(text($1)) }
            loop.run(until: "it ends") { !reasons.isEmpty }
            #expect(lines == ["one"] && reasons == [.peerClosed])
        }
    }

    @Test func `what is no stream is refused and closed, and a regular file with advice`() throws {
        let directory = try ScratchDirectory()
        let file = unsafe open("\(directory.path)/file", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        do {
            _ = try Connection(OwnedDescriptor(file))
            Issue.record("a regular file is taken over")
        } catch {
            #expect(error == SystemError(call: "epoll_ctl", code: EPERM))
            #expect("\(error)".contains("a regular file, which is always ready"))
            #expect("\(error)".contains("in blocks on a thread of its own"))
        }
        #expect(fcntl(file, F_GETFD) == -1)
        let folder = unsafe open(directory.path, O_RDONLY | O_CLOEXEC)
        #expect(throws: SystemError(call: "fstat", code: EPROTOTYPE)) {
            try Connection(OwnedDescriptor(folder))
        }
        #expect(throws: SystemError(call: "fcntl", code: EBADF)) {
            let pipe = try OwnedDescriptor.pipe()
            _ = try Connection(reading: pipe.writingEnd, writing: pipe.readingEnd)
        }
    }

    @Test func `out of descriptors, a connection over files fails and leaves nothing open`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                func use() throws {
                    let pipe = try OwnedDescriptor.pipe()
                    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
                    if null < 0 { throw SystemError(call: "open", code: errno) }
                    let connection = try Connection(OwnedDescriptor(null))
                    let pair = try Connection(reading: pipe.readingEnd, writing: pipe.writingEnd)
                    try loop.add(connection, forMode: .default)
                    defer { connection.close() }
                    try loop.add(pair, forMode: .default)
                    pair.close()
                }
                loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
                try use()
                loop.settle()
                let bound = try boundOfDescriptors()
                fillDescriptors(below: bound)
                var free = 0
                while let code = refusal(bound, free: free, use) {
                    loop.settle()
                    try #require(code == EMFILE && openDescriptors(from: bound) == 0)
                    free += 1
                    try #require(free < 20)
                }
                loop.settle()
                try #require(free > 2 && openDescriptors(from: bound) == 0)
            }
        }
    }
}
