/// Which handlers keep their loops from everything else, told by looks at all loops at intervals.
///
/// A call that is there at two looks has gone on for as long as they lie apart, or longer. A look that comes late is
/// counted as one that came in time: the machine has slept, or the whole process was halted, and the handler with it.
struct BlockedHandlers<Key: Hashable> {
    /// What is to be told of a call.
    struct Finding: Equatable {
        let key: Key
        let look: HandlerRecord.Look
        let phase: RunLoopWatchdog.Report.Phase
        /// For how long it was seen.
        let nanoseconds: Int64
        /// How many messages had been sent to the loop when it was first seen; modulo what a mailbox counts.
        let sequence: UInt64
    }

    private struct Call {
        var look: HandlerRecord.Look
        let sequence: UInt64
        var nanoseconds: Int64 = 0
        /// What it has to last for the next report.
        var nextReport: Int64
        var isReported = false
    }

    private let threshold: Int64
    private let interval: Int64
    private var calls: [Key: Call] = [:]
    private var lastLook = Moment.never

    /// Nothing was seen yet.
    ///
    /// - Parameters:
    ///   - threshold: How long a call may last, in nanoseconds.
    ///   - interval: How far apart the looks are meant to be.
    init(threshold: Int64, interval: Int64) {
        self.threshold = threshold
        self.interval = interval
    }

    /// Takes in one look at all loops.
    ///
    /// - Parameters:
    ///   - looks: The calls that go on, and how many messages were sent to their loops.
    ///   - now: When that was seen.
    /// - Returns: What is to be told now: of each call once when it has lasted too long, again each time that it has lasted
    ///   twice as long as when it was last told of, and at its end.
    mutating func look(_ looks: [Key: (look: HandlerRecord.Look, sequence: UInt64)], now: Moment) -> [Finding]
    {
        let elapsed =
            lastLook == .never ? 0 : min(now.nanoseconds - lastLook.nanoseconds, 2 * interval)
        lastLook = now
        var findings: [Finding] = []
        for (key, call) in calls where looks[key]?.look.call != call.look.call {
            if call.isReported {
                findings.append(finding(key, call, .ended))
            }
            calls[key] = nil
        }
        for (key, seen) in looks {
            guard var call = calls[key] else {
                calls[key] = Call(look: seen.look, sequence: seen.sequence, nextReport: threshold)
                continue
            }
            call.nanoseconds += elapsed
            if call.nanoseconds >= call.nextReport {
                findings.append(finding(key, call, call.isReported ? .stillBlocked : .blocked))
                call.isReported = true
                call.nextReport = 2 * call.nanoseconds
            }
            calls[key] = call
        }
        return findings
    }

    private func finding(_ key: Key, _ call: Call, _ phase: RunLoopWatchdog.Report.Phase) -> Finding {
        Finding(
            key: key, look: call.look, phase: phase, nanoseconds: call.nanoseconds, sequence: call.sequence)
    }
}
