internal import Synchronization

/// A count of the descriptors that were received from other processes.
///
/// A descriptor is counted until the program takes it out of its message, or until it is closed.
///
/// One atomic number holds two counts. Its lower half counts the descriptors that wait to be taken, and its upper half those that
/// are being closed or wait to be closed. So a single load shows whether any descriptor is counted.
///
/// > Thread safety: any thread.
struct DescriptorCounter: ~Copyable, Sendable {
    private let counts = Atomic<Int>(0)

    private static let oneClosing = 1 << 32

    /// True if no descriptor is counted.
    var isEmpty: Bool { counts.load(ordering: .relaxed) == 0 }

    /// The number of descriptors that are being closed, or wait to be closed.
    var closing: Int { counts.load(ordering: .relaxed) / DescriptorCounter.oneClosing }

    /// The number of all counted descriptors: those that wait to be taken, and those that are being closed.
    var total: Int {
        let (closing, untaken) = counts.load(ordering: .relaxed)
            .quotientAndRemainder(dividingBy: DescriptorCounter.oneClosing)
        return closing + untaken
    }

    /// Counts descriptors that were received.
    func receive(_ count: Int) { counts.add(count, ordering: .relaxed) }

    /// Stops counting descriptors that the program has taken out of their messages.
    func take(_ count: Int) { counts.subtract(count, ordering: .relaxed) }

    /// Counts descriptors that are about to be closed.
    ///
    /// - Parameters:
    ///   - count: The number of descriptors.
    ///   - wereCounted: True if the descriptors were counted as untaken until now.
    func beginClosing(_ count: Int, wereCounted: Bool) {
        counts.add(count * DescriptorCounter.oneClosing - (wereCounted ? count : 0), ordering: .relaxed)
    }

    /// Stops counting descriptors that have been closed.
    func endClosing(_ count: Int) {
        counts.subtract(count * DescriptorCounter.oneClosing, ordering: .relaxed)
    }
}
