internal import CoreFoundation
internal import Foundation

/// A thread that runs Foundation's run loop.
///
/// On Linux `perform` does not wake a loop that sleeps. The best public means is Core Foundation's
/// `CFRunLoopWakeUp`, which Foundation's clients can import; the loop's Core Foundation face has no
/// public way out of `RunLoop`, so its own thread asks for it.
final class FoundationLoop: @unchecked Sendable {
    // Safe because both are set before `init` returns and never again, and both calls that other threads
    // make on them are documented, or written, for any thread.
    private var loop: RunLoop?
    private var core: CFRunLoop?
    private let thread = WorkerThread()

    init() {
        thread.run { [self] in
            loop = RunLoop.current
            core = CFRunLoopGetCurrent()
        }
        thread.wait()
        thread.run {
            // A loop without a timer or port returns at once.
            RunLoop.current.add(
                Timer(fire: .distantFuture, interval: 1e9, repeats: true) { _ in }, forMode: .default)
            while RunLoop.current.run(mode: .default, before: .distantFuture) {}
        }
    }

    var number: ThreadNumber { thread.number }

    /// Runs the block on the loop's thread.
    func perform(_ block: @escaping @Sendable () -> Void) {
        loop?.perform(block)
        CFRunLoopWakeUp(core)
    }
}
