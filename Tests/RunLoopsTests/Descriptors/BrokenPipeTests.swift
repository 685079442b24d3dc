import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Writes to a pipe whose reading end is closed.
///
/// Each test has a process of its own, because a signal has one action for the whole process.
@Suite struct BrokenPipeTests {
    @Test func `a write to a broken pipe fails once the signal is ignored`() async throws {
        try await #require(processExitsWith: .success) {
            #expect(SignalSource.ignoreBrokenPipes())
            #expect(Signals.action(of: SIGPIPE) == .ignored)
            let code = try writeToBrokenPipe()
            #expect(code == EPIPE)
            #expect(SignalSource.ignoreBrokenPipes())
        }
        try await #require(processExitsWith: .signal(SIGPIPE)) {
            Signals.block(SIGPIPE, false)
            Signals.ignore(SIGPIPE, false)
            _ = try writeToBrokenPipe()
        }
    }

    @Test func `a handler of the signal stays, of other code or of a source`() async throws {
        try await #require(processExitsWith: .success) {
            Signals.handle(SIGPIPE)
            #expect(!SignalSource.ignoreBrokenPipes())
            #expect(Signals.action(of: SIGPIPE) == .handler)
            let code = try writeToBrokenPipe()
            #expect(code == EPIPE)
        }
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                let isCalled = Shared()
                let source = try SignalSource(SIGPIPE) { source, _ in
                    isCalled.increment()
                    source.invalidate()
                }
                #expect(!SignalSource.ignoreBrokenPipes())
                try loop.add(source, forMode: .default)
                let code = try writeToBrokenPipe()
                #expect(code == EPIPE)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(isCalled.count == 1)
            }
        }
    }
}

/// Writes a byte to a pipe whose reading end is closed.
///
/// - Returns: The error code.
private func writeToBrokenPipe() throws -> CInt {
    let pipe = try OwnedDescriptor.pipe()
    let writingEnd = pipe.writingEnd
    _ = consume pipe.readingEnd
    var byte: UInt8 = 1
    // Safe: the kernel reads a local variable of one byte.
    return unsafe write(writingEnd.descriptor, &byte, 1) == -1 ? errno : 0
}
