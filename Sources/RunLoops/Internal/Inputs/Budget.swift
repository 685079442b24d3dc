/// A limit on the messages of one kind, such as blocks, that a pass of a loop serves before it checks its other inputs again.
///
/// The limit is 128 messages or 250 µs, whichever comes first. Blocks and ports have separate budgets, which together allow at most
/// 256 messages or 500 µs in a pass that does not sleep. After a sleep, the blocks get a new budget.
///
/// A message is the smallest step of an input: one call of a handler, one record, one frame, one entry. All inputs of a step of the
/// pass share one budget, which is passed down to the code that makes the smallest steps. A budget cannot be copied, and only
/// RunLoops makes one. So the other modules can only spend what the pass gives them.
///
/// The clock is read before the second message, and then at intervals that grow to 32 messages. So the clock is not
/// read for a single message, and slow handlers are detected soon.
package struct Budget: ~Copyable {
    // These constants are computed properties. A stored constant is initialized at its first use, and a child process that is
    // forked at that moment would hang when it reads the constant; see `Moment.never`.
    static var messages: Int { 128 }
    static var nanoseconds: Int64 { 250_000 }
    private static var longestInterval: Int { 32 }

    /// The number of messages that can still be served before the next call of `look(_:)`.
    ///
    /// This number is counted down to 0, so most messages cost only one comparison.
    private var untilLook = 1
    /// The total number of messages that the budget allows before the next call of `look(_:)`.
    private var servedAtLook = 1
    private var interval = 1
    private var deadline = Moment.never

    /// True if a reading of the clock has shown that the time limit has passed.
    private var isOverdue = false

    init() {}

    /// True if the budget is known to refuse the next message.
    ///
    /// The property does not read the clock, so it can be false although the time limit has passed.
    package var isSpent: Bool { isOverdue || untilLook == 0 && servedAtLook == Budget.messages }

    /// Counts one more message, if the budget allows it.
    ///
    /// - Returns: False if the budget is spent. In that case, the message must not be served now.
    @inline(__always)
    package mutating func spend() -> Bool { spend(now: Moment.now) }

    /// Counts one more message, if the budget allows it.
    ///
    /// - Parameter now: Reads the clock. As a default argument, it would cost callers in other modules a call.
    /// - Returns: False if the budget is spent.
    @inline(__always)
    mutating func spend(now: () -> Moment) -> Bool {
        if untilLook == 0 && !look(now) { return false }
        untilLook &-= 1
        return true
    }

    /// Makes the next step look at the clock, because the present one takes long, such as a step of a hand-shake.
    package mutating func lookNext() {
        servedAtLook &-= untilLook
        untilLook = 0
        interval = 1
    }

    /// Makes sure that the next call of ``spend(now:)`` succeeds, or finds out that the budget is spent.
    ///
    /// - Returns: False if the budget is spent.
    @inline(__always)
    mutating func allowsOneMore(now: () -> Moment = Moment.now) -> Bool { untilLook > 0 || look(now) }

    /// The number of messages that have been counted.
    @inline(__always)
    var spent: Int { servedAtLook &- untilLook }

    /// Counts the message that ``allowsOneMore(now:)`` has allowed, unless its input has counted a message since then.
    ///
    /// - Parameter before: The value of ``spent`` at the time of that call.
    @inline(__always)
    mutating func spendAtLeastOne(since before: Int) { if spent == before { untilLook &-= 1 } }

    /// Returns true if the budget allows more messages.
    ///
    /// The method reads the clock, unless the budget is known to be spent.
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
