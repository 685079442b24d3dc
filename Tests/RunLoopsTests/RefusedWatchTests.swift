import Glibc
import RunLoops
import TestSupport
import Testing

/// A kernel that does not watch any more descriptors, because its user has too many watched.
@Suite struct RefusedWatchTests {
    private static let refusal = SystemError(call: "epoll_ctl", code: ENOSPC)

    @Test func `a source that is not watched is an error, and the loop goes on as before`() throws {
        try onLoopThread { loop in
            let wires = [try Wire.pipe(), try Wire.pipe()]
            defer { for wire in wires { wire.close() } }
            var calls = [0, 0]
            let sources = wires.enumerated().map { number, wire in
                DescriptorSource(wire.near, interest: .read) { _, _ in
                    calls[number] += 1
                    wire.drain()
                }
            }
            try loop.add(sources[0], forMode: .default)
            #expect(throws: Self.refusal) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(sources[1], forMode: .default) }
            }
            for wire in wires { wire.send() }
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(calls == [1, 0])
            // When there is room again, so it is for the source.
            try loop.add(sources[1], forMode: .default)
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(calls == [1, 1])
        }
    }

    @Test func `a loop that is not watched is an error, and leaves nothing open`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            try BareThread {
                for _ in 0..<3 {
                    #expect(throws: Self.refusal) {
                        try Faults.refusingWatches(ENOSPC) { _ = try RunLoop.makeCurrent() }
                    }
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(RunLoop.current.perform {})
                #expect(RunLoop.current.run(in: .default, until: .hang) == .finished)
            }.join()
        }
    }

    @Test func `a source that a change of modes needs watched again ends the program with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                loop.perform(inModes: [.init("other")]) {}
                loop.run(in: .init("other"), until: .now)
                Faults.refusingWatches(ENOSPC) { _ = loop.run(in: .default, until: .now) }
            }
        }
        expect(result, says: "epoll_ctl", "which it watched before")
    }
}

/// Expects what a process has said before it ended.
private func expect(_ result: ExitTest.Result?, says parts: String...) {
    for part in parts { #expect(result?.message.contains(part) == true, "\(result?.message ?? "")") }
}
