internal import Synchronization

/// The descriptors that others have sent, counted from when they were received until they are taken or closed.
///
/// Both counts are one number, so that one load tells whether there is any: those that are being closed in its upper half.
///
/// > Thread safety: any thread.
struct DescriptorTally: ~Copyable, Sendable {
    private let counts = Atomic<Int>(0)

    private static let oneClosing = 1 << 32

    /// True if no descriptor is counted.
    var isEmpty: Bool { counts.load(ordering: .relaxed) == 0 }

    /// The number of descriptors that wait to be taken.
    var untaken: Int { counts.load(ordering: .relaxed) & (DescriptorTally.oneClosing - 1) }

    /// The number of descriptors that are being closed, or wait for that.
    var closing: Int { counts.load(ordering: .relaxed) / DescriptorTally.oneClosing }

    /// The number of all of them.
    var total: Int {
        let (closing, untaken) = counts.load(ordering: .relaxed)
            .quotientAndRemainder(dividingBy: DescriptorTally.oneClosing)
        return closing + untaken
    }

    /// Counts descriptors that were received.
    func receive(_ count: Int) { counts.add(count, ordering: .relaxed) }

    /// Counts descriptors no more that the program has taken.
    func take(_ count: Int) { counts.subtract(count, ordering: .relaxed) }

    /// Counts descriptors that are to be closed now.
    ///
    /// - Parameters:
    ///   - count: The number of them.
    ///   - wereCounted: True if they were counted as untaken until now.
    func beginClosing(_ count: Int, wereCounted: Bool) {
        counts.add(count * DescriptorTally.oneClosing - (wereCounted ? count : 0), ordering: .relaxed)
    }

    /// Counts descriptors no more that are closed.
    func endClosing(_ count: Int) {
        counts.subtract(count * DescriptorTally.oneClosing, ordering: .relaxed)
    }
}
