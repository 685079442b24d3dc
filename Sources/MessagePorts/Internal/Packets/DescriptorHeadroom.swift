internal import CRunLoops
internal import Synchronization

/// A check that this process has enough free descriptor numbers to receive any packet.
///
/// If no number is free for a received descriptor, the kernel closes the descriptor immediately, on the thread that receives. The
/// check costs a system call. So if it finds enough free numbers, the result is reused for some time.
enum DescriptorHeadroom {
    /// The time, in nanoseconds, for which the result of a check is reused if the check has found enough free numbers.
    ///
    /// Within that time, other code can open so many descriptors that fewer than 253 numbers are free. The reused result is then
    /// wrong.
    private static let nanosecondsOfAnswer: Int64 = 10_000_000

    /// The end of the time in which the last check that found enough free numbers is reused, on the kernel's coarse clock.
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
