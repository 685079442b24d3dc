internal import Synchronization

/// The number of descriptors that were received from other processes and are not yet taken or closed.
///
/// The lower half of one number counts the descriptors that wait to be taken, and the upper half those that are being closed. So a
/// single load shows whether any descriptor is counted.
///
/// > Thread safety: any thread.
struct DescriptorCounter: ~Copyable, Sendable {
    private let counts = Atomic<Int>(0)

    private static let oneClosing = 1 << 32

    /// True if no descriptor is counted.
    var isEmpty: Bool { counts.load(ordering: .relaxed) == 0 }

    /// The number of descriptors that wait to be taken.
    var untaken: Int { counts.load(ordering: .relaxed) & (DescriptorCounter.oneClosing - 1) }

    /// The number of descriptors that are being closed, or wait to be closed.
    var closing: Int { counts.load(ordering: .relaxed) / DescriptorCounter.oneClosing }

    /// The number of descriptors that are counted for either reason.
    var total: Int {
        let (closing, untaken) = counts.load(ordering: .relaxed)
            .quotientAndRemainder(dividingBy: DescriptorCounter.oneClosing)
        return closing + untaken
    }

    /// Adds descriptors that were received.
    func receive(_ count: Int) { counts.add(count, ordering: .relaxed) }

    /// Subtracts descriptors that the program has taken.
    func take(_ count: Int) { counts.subtract(count, ordering: .relaxed) }

    /// Adds descriptors that are to be closed now.
    ///
    /// - Parameters:
    ///   - count: The number of descriptors.
    ///   - wereCounted: True if the descriptors were counted as untaken until now.
    func beginClosing(_ count: Int, wereCounted: Bool) {
        counts.add(count * DescriptorCounter.oneClosing - (wereCounted ? count : 0), ordering: .relaxed)
    }

    /// Subtracts descriptors that are closed.
    func endClosing(_ count: Int) {
        counts.subtract(count * DescriptorCounter.oneClosing, ordering: .relaxed)
    }
}
