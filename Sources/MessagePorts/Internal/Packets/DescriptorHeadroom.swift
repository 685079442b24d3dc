internal import CSockets
internal import Synchronization

/// A check that this process can open the descriptors of any packet.
///
/// If no number is free for a descriptor, the kernel closes the descriptor immediately, on the thread that receives. The check
/// costs a system call, so its result is reused for some time.
enum DescriptorHeadroom {
    /// The time for which a positive result is reused.
    ///
    /// The result becomes wrong if other code opens so many descriptors within that time that fewer than 253 are free.
    private static let nanosecondsOfAnswer: Int64 = 10_000_000

    /// The coarse time until which the last positive result is reused.
    private static let ampleUntil = Atomic<Int64>(0)

    static var isAmple: Bool {
        let now = runloops_coarse_time()
        if now < ampleUntil.load(ordering: .relaxed) { return true }
        return check(now)
    }

    @inline(never)
    private static func check(_ now: Int64) -> Bool {
        let isAmple = runloops_has_free_descriptors()
        if isAmple { ampleUntil.store(now + nanosecondsOfAnswer, ordering: .relaxed) }
        return isAmple
    }
}
