/// The handlers that block their loops, found by inspecting all loops at intervals.
///
/// If two inspections find the same call, the call has lasted at least the time between them. An inspection can be late. Each
/// inspection counts the time since the previous one, but at most two intervals: a longer delay means that the machine was asleep,
/// or that the whole process, with the handler, was halted.
struct BlockedHandlers<Key: Hashable> {
    /// A handler call to report.
    struct Finding: Equatable {
        let key: Key
        let look: HandlerRecord.Look
        let phase: RunLoopWatchdog.Report.Phase
        /// The time for which the call has been observed, in nanoseconds.
        let nanoseconds: Int64
        /// The number of messages that had been sent to the loop when the call was first observed, modulo 2²⁰.
        let sequence: UInt64
    }

    private struct Call {
        var look: HandlerRecord.Look
        let sequence: UInt64
        var nanoseconds: Int64 = 0
        /// The length that the call must reach to be reported next, in nanoseconds.
        var nextReport: Int64
        var isReported = false
    }

    private let threshold: Int64
    private let interval: Int64
    private var calls: [Key: Call] = [:]
    private var lastLook = Moment.never

    /// Makes the state before the first inspection.
    ///
    /// - Parameters:
    ///   - threshold: The length of the shortest call that is reported, in nanoseconds.
    ///   - interval: The planned time between two inspections, in nanoseconds.
    init(threshold: Int64, interval: Int64) {
        self.threshold = threshold
        self.interval = interval
    }

    /// Processes one inspection of all loops.
    ///
    /// - Parameters:
    ///   - looks: The loops that are calling a handler. For each loop, the value contains the call and the number of messages that
    ///     were sent to the loop.
    ///   - now: The time of the inspection.
    /// - Returns: The calls to report now. A call is first reported when it has taken too long. It is reported again each time that
    ///   its length has doubled since its last report, and finally at its end.
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

extension BlockedHandlers.Finding {
    /// The length of the call, rounded down to a step that is not finer than the inspections, such as 1, 2 or 5 ms.
    ///
    /// The call can have begun just after one inspection and ended just before another one. So digits below the time between two
    /// inspections say nothing about the call.
    ///
    /// - Parameters:
    ///   - interval: The time between two inspections, in nanoseconds.
    ///   - threshold: The length of the shortest call that is reported, in nanoseconds. A longer call is not rounded below it.
    /// - Returns: The rounded length.
    func knownNanoseconds(every interval: Int64, threshold: Int64) -> Int64 {
        var step: Int64 = 1
        while step <= interval / 10 { step *= 10 }
        // The step is the largest of 1, 2 and 5 times a power of ten that is not larger than the interval.
        for factor: Int64 in [5, 2] where step <= interval / factor {
            step *= factor
            break
        }
        return max(nanoseconds - nanoseconds % step, min(nanoseconds, threshold))
    }
}
