/// How much one pass may serve of one kind before it looks at the other inputs again.
///
/// 128 messages or 250 µs, whichever comes first; a pass has one budget for blocks and one for ports, which
/// makes 256 messages or 500 µs at most. The clock is read before the second message and then ever less
/// often, so a lone message costs no reading, and slow handlers are noticed soon.
struct Budget {
    // Computed, for the sake of forked children, as `Moment.never` is.
    static var messages: Int { 128 }
    static var nanoseconds: Int64 { 250_000 }
    private static var longestInterval: Int { 32 }

    private var served = 0
    private var nextReading = 1
    private var interval = 1
    private var deadline = Moment.never

    /// No time is left.
    private var isOverdue = false

    /// Whether the next message would be refused, as far as is known without asking the clock.
    var isSpent: Bool { isOverdue || served == Budget.messages }

    /// Whether one more message may be served.
    mutating func spend(now: () -> Moment = Moment.now) -> Bool {
        if isSpent { return false }
        if served == nextReading {
            let now = now()
            if now >= deadline {
                isOverdue = true
                return false
            }
            if deadline == .never { deadline = now.advanced(by: Budget.nanoseconds) }
            nextReading += interval
            interval = min(interval * 2, Budget.longestInterval)
        }
        served += 1
        return true
    }
}
