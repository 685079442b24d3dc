internal import Synchronization

/// The mode in which a loop runs, as every thread reads it.
///
/// > Thread safety: ``publish(_:)`` from the loop's thread; ``value`` from any thread.
struct RunningMode: ~Copyable, Sendable {
    /// One more than the number of the mode's name; 0 for none.
    private let word = Atomic<UInt>(0)

    /// The mode of the innermost run; nil between runs.
    var value: Mode? {
        let word = word.load(ordering: .acquiring)
        return word == 0 ? nil : Mode(number: word - 1)
    }

    /// Publishes another mode; nil if no run is left.
    func publish(_ mode: Mode?) { word.store(mode.map { $0.number + 1 } ?? 0, ordering: .releasing) }
}
