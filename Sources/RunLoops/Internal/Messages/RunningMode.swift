internal import Synchronization

/// The mode in which a loop runs, as every thread reads it.
///
/// Only a run in another mode than the default one takes the lock.
///
/// > Thread safety: ``publish(_:)`` from the loop's thread; ``value`` from any thread.
struct RunningMode: ~Copyable, Sendable {
    private let kind = Atomic<UInt8>(RunningMode.none)
    private let other = Guarded<RunLoop.Mode?>(nil)

    private static var none: UInt8 { 0 }
    private static var isDefault: UInt8 { 1 }
    private static var isOther: UInt8 { 2 }

    /// The mode of the innermost run; nil between runs.
    var value: RunLoop.Mode? {
        switch kind.load(ordering: .acquiring) {
        case RunningMode.none: nil
        case RunningMode.isDefault: .default
        default: other.withLock { $0 }
        }
    }

    /// Publishes another mode; nil if no run is left.
    func publish(_ mode: RunLoop.Mode?) {
        guard let mode else { return kind.store(RunningMode.none, ordering: .releasing) }
        if mode == .default { return kind.store(RunningMode.isDefault, ordering: .releasing) }
        other.withLock { $0 = mode }
        kind.store(RunningMode.isOther, ordering: .releasing)
    }
}
