/// A limit on the messages of one kind that a pass serves before it checks the other inputs again.
///
/// The limit is 128 messages or 250 µs, whichever comes first. A pass has one budget for blocks and one for ports, which together
/// allow at most 256 messages or 500 µs. The clock is read before the second message and then less and less often, so a single
/// message needs no reading of the clock, and slow handlers are detected soon.
package struct Budget {
    // These are computed, so that a forked child cannot hang when it reads them; see `Moment.never`.
    static var messages: Int { 128 }
    static var nanoseconds: Int64 { 250_000 }
    private static var longestInterval: Int { 32 }

    /// The number of messages that can be served before the budget is used up or must read the clock again.
    ///
    /// The number counts down, so that most messages cost one comparison.
    private var untilLook = 1
    /// The number of messages that will have been served when `untilLook` reaches 0.
    private var servedAtLook = 1
    private var interval = 1
    private var deadline = Moment.never

    /// True if no time is left.
    private var isOverdue = false

    package init() {}

    /// True if the budget refuses the next message, as far as is known without reading the clock.
    package var isSpent: Bool { isOverdue || untilLook == 0 && servedAtLook == Budget.messages }

    /// Returns true if one more message can be served, and adds that message to the count.
    @inline(__always)
    package mutating func spend(now: () -> Moment = Moment.now) -> Bool {
        if untilLook == 0 && !look(now) { return false }
        untilLook &-= 1
        return true
    }

    /// Returns true if the budget allows more messages; reads the clock unless the budget is known to be spent.
    @inline(never)
    private mutating func look(_ now: () -> Moment) -> Bool {
        if isSpent { return false }
        let now = now()
        if now >= deadline {
            isOverdue = true
            return false
        }
        if deadline == .never { deadline = now.advanced(by: Budget.nanoseconds) }
        untilLook = min(interval, Budget.messages - servedAtLook)
        servedAtLook += untilLook
        interval = min(interval * 2, Budget.longestInterval)
        return true
    }
}
