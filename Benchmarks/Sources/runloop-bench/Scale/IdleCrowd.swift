internal import CThreadControl
internal import CYardsticks
internal import Dispatch
internal import RunLoops

/// A loop that watches many descriptors.
final class IdleCrowd: @unchecked Sendable {
    // Safe because only the loop's thread touches what changes, except while it is waited for.
    let size: Int
    let number: ThreadNumber
    private let thread: RunLoopThread
    private let descriptors: [Int32]
    private var calls = 0
    private let isOver = DispatchSemaphore(value: 0)

    /// Starts the loop.
    ///
    /// - Parameter size: How many descriptors.
    /// - Throws: What the system said when it gave no thread, or would not watch a descriptor.
    init(_ size: Int) throws {
        self.size = size
        thread = try RunLoopThread(name: "\(size) idle")
        number = try thread.runLoop.performAndWait { ThreadNumber.current }
        descriptors = (0..<size).map { _ in bench_event_open(false) }
        try thread.runLoop.performAndWait { [self] in
            for descriptor in descriptors {
                let source = DescriptorSource(descriptor, interest: .read, closesDescriptor: true) {
                    [unowned self] source, _ in
                    source.invalidate()
                    calls += 1
                    if calls == self.size { isOver.signal() }
                }
                try RunLoop.current.add(source, forMode: .default)
            }
        }
    }

    /// Makes passes for so long.
    ///
    /// - Returns: Nanoseconds a pass, the median of chunks, so that what interrupts a few does not show.
    /// - Throws: If the kernel was asked more or less often than once a pass.
    func time(length: Duration) throws(Miscount) -> Double {
        let chain = PassChain(thread.runLoop, end: bench_now() + length.nanoseconds)
        return try chain.wait()
    }

    /// Makes all ready, waits until each was reported, and ends the loop.
    ///
    /// - Throws: If one was not.
    func end() throws(Miscount) {
        for descriptor in descriptors { bench_event_write(descriptor) }
        let isComplete = isOver.wait(timeout: .now() + .seconds(120)) == .success
        if !isComplete { throw Miscount(expected: size, found: -1) }
        thread.stop()
        thread.join()
    }
}
