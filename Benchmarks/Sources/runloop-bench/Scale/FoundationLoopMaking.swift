internal import Foundation

/// Makes loops of Foundation's.
enum FoundationLoopMaking {
    /// Makes the calling thread's loop, and lets it serve a timer in one pass.
    static func make() {
        RunLoop.current.add(
            Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
        _ = RunLoop.current.run(mode: .default, before: Date())
    }
}
