extension ProcessReport {
    /// Returns the report as text for a terminal.
    ///
    /// - Parameters:
    ///   - earlier: An earlier report of the same process, to show rates; nil to show totals.
    ///   - width: The number of columns of the terminal; less than 40 counts as 40.
    /// - Returns: Lines of at most that number of columns, each with a line feed at its end.
    public func text(since earlier: ProcessReport? = nil, width: Int = 100) -> String {
        var page = TextPage(width: max(40, width))
        let seconds = earlier.map { Double(date.clampedDifference($0.date)) / 1e9 } ?? 0
        let known = Dictionary(
            (earlier?.loops ?? []).map { ([$0.name, "\($0.threadID)"], $0) },
            uniquingKeysWith: { first, _ in first })
        page.line("\(program) (\(processID)): \(loops.count) loops")
        for wait in waits where wait.isInCircle && !wait.hasDeadline {
            page.line("DEADLOCK: \(wait.sentence)")
        }
        page.table(
            ["LOOP", "THREAD"] + Counts.columns.map { seconds > 0 ? $0.rate : $0.total }
                + ["PENDING", "STATE"],
            loops.map { $0.row(since: known[[$0.name, "\($0.threadID)"]], seconds) },
            leftAligned: [0, Counts.columns.count + 3])
        let ports = loops.flatMap { loop in loop.inputs("port").map { (loop, $0) } }
        page.section(
            "PORTS", ["LOOP", "WAITING", "LIMIT", "SENDERS", "MADE AT"],
            ports.map { loop, port in
                [
                    loop.label, "\(port.count ?? 0)", port.limit.map(String.init) ?? "-",
                    "\(port.waitingSenders ?? 0)", port.madeAt,
                ]
            }, leftAligned: [0, 4])
        let timers = loops.flatMap { loop in loop.inputs("timer").map { (loop, $0) } }
        page.section(
            "TIMERS", ["LOOP", "DUE IN", "EVERY", "MISSED", "MADE AT"],
            timers.map { loop, timer in
                [
                    loop.label, timer.dueIn.map(\.time) ?? "-",
                    timer.interval.map { $0 > 0 ? $0.time : "once" } ?? "-",
                    "\(timer.missed ?? 0)", timer.madeAt,
                ]
            }, leftAligned: [0, 4])
        let others = loops.flatMap { loop in
            loop.inputs("descriptor", "manual source", "observer").map { (loop, $0) }
        }
        page.section(
            "SOURCES", ["LOOP", "KIND", "FD", "MODES", "MADE AT"],
            others.map { loop, input in
                [
                    loop.label, input.kind, input.descriptor.map { "\($0)" } ?? "-",
                    input.modes.sorted().joined(separator: " "),
                    input.madeAt,
                ]
            }, leftAligned: [0, 1, 3, 4])
        let counted = loops.flatMap { loop in
            (loop.details?.inputs ?? []).compactMap { input in input.counts.map { (loop, input, $0) } }
        }
        page.section(
            "CONNECTIONS, MESSAGE PORTS, OBSERVERS", ["LOOP", "KIND", "COUNTS", "MADE AT"],
            counted.map { loop, input, counts in
                let words = counts.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
                return [loop.label, input.kind, words, input.madeAt]
            }, leftAligned: [0, 1, 2, 3])
        if !waits.isEmpty {
            page.line("")
            page.line("WAITS")
            for wait in waits { page.line(wait.sentence) }
        }
        if let recent { recent.write(to: &page) }
        return page.text
    }
}

extension ProcessReport.Loop {
    fileprivate var label: String { name.isEmpty ? "thread \(threadID)" : name }

    fileprivate func inputs(_ kinds: String...) -> [ProcessReport.Input] {
        details?.inputs.filter { kinds.contains($0.kind) } ?? []
    }

    fileprivate func row(since before: ProcessReport.Loop?, _ seconds: Double) -> [String] {
        let columns = ProcessReport.Counts.columns.map { key, _, _ in
            let (now, isTime) = (counts[key], key.metric.kind == .secondsCounter)
            guard seconds > 0, let before else { return isTime ? now.time : "\(now)" }
            let rate = Double(now.clampedDifference(before.counts[key])) / seconds
            return isTime
                ? "\(Int(clampedRounding: min(max(rate / 1e7, 0), 100)))%" : "\(Int(clampedRounding: rate))"
        }
        return [label, "\(threadID)"] + columns + ["\(pendingCount)", state]
    }

    /// The state of the loop in words.
    fileprivate var state: String {
        let length = call?.nanoseconds ?? busyNanoseconds
        if let call, isBlocked {
            return "BLOCKED\(length.map { " \($0.time)" } ?? "") in \(call.words)"
        }
        if let call { return "in \(call.words)" }
        guard let details else { return busyNanoseconds == nil ? "no answer: it does not run" : "no answer" }
        guard let mode = details.mode, details.depth > 0 else { return "not running" }
        return "serves \(mode)" + (details.depth > 1 ? ", \(details.depth) runs deep" : "")
    }
}

extension ProcessReport.Call {
    fileprivate var words: String { madeAt.contains(":") ? "\(kind) \(madeAt)" : madeAt }
}

extension ProcessReport.Wait {
    fileprivate var sentence: String {
        let targets = waitsFor.map { $0.isEmpty ? "an unnamed loop" : $0 }.joined(separator: ", ")
        let waiter = loop.map { $0.isEmpty ? "an unnamed loop" : $0 } ?? "a thread"
        return
            "\(waiter) waits for \(targets.isEmpty ? "other threads" : targets) in \(operation) at \(madeAt)"
            + (hasDeadline ? ", with a deadline" : "") + (isInCircle ? ", in a circle" : "")
    }
}

extension ProcessReport.Recent {
    fileprivate func write(to page: inout TextPage) {
        page.section(
            "HANDLERS OF THE LAST \(covered.time)",
            ["CALLS", "TOGETHER", "LONGEST", "WAITED", "KIND", "MADE AT"],
            handlers.prefix(15).map {
                [
                    "\($0.count)", $0.total.time, $0.longest.time,
                    $0.longestWait > 0 ? $0.longestWait.time : "-", $0.kind,
                    $0.madeAt,
                ]
            }, leftAligned: [4, 5])
        page.section(
            "TIMES", ["", "COUNT", "P50", "P99", "LONGEST"],
            [("handlers", lengths), ("waits of messages", waits), ("lateness of timers", latenesses)].map {
                [$0.0, "\($0.1.count)", $0.1.quantile(0.5).time, $0.1.quantile(0.99).time, $0.1.longest.time]
            }, leftAligned: [0])
        if drops > 0 { page.line("\(drops) notifications were discarded") }
    }
}

extension Int64 {
    /// The nanoseconds as a text with up to three significant digits and a unit.
    var time: String {
        let size = magnitude
        let (unit, name): (UInt64, String) =
            switch size {
            case 10_000_000_000_000...: (60_000_000_000, "min")
            case 1_000_000_000...: (1_000_000_000, "s")
            case 1_000_000...: (1_000_000, "ms")
            case 1_000...: (1_000, "us")
            default: (1, "ns")
            }
        let whole = size / unit
        let digits = whole >= 100 || unit == 1 ? 0 : whole >= 10 ? 1 : 2
        if digits == 0 { return "\(self < 0 ? "-" : "")\(whole) \(name)" }
        let power: UInt64 = digits == 1 ? 10 : 100
        let shown = Int64(whole * power + size % unit * power / unit)
        return (self < 0 ? -shown : shown).text(decimals: digits) + " \(name)"
    }
}
