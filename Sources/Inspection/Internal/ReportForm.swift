/// The JSON form of a report.
///
/// The public types are not `Codable` themselves: whoever decodes a report must go through the checks of
/// ``ProcessReport/init(json:)``, because any process can have written the text.
struct ReportForm: Codable {
    let report: ProcessReport

    init(_ report: ProcessReport) { self.report = report }

    private enum Key: String, CodingKey { case processID, program, date, loops, waits, recent }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        report = ProcessReport(
            processID: try values.decode(Int32.self, forKey: .processID),
            program: try values.decode(String.self, forKey: .program),
            date: try values.decode(Int64.self, forKey: .date),
            loops: try values.decode([LoopForm].self, forKey: .loops).map(\.loop),
            waits: try values.decode([ProcessReport.Wait].self, forKey: .waits),
            recent: try values.decodeIfPresent(ProcessReport.Recent.self, forKey: .recent))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(report.processID, forKey: .processID)
        try values.encode(report.program, forKey: .program)
        try values.encode(report.date, forKey: .date)
        try values.encode(report.loops.map(LoopForm.init), forKey: .loops)
        try values.encode(report.waits, forKey: .waits)
        try values.encodeIfPresent(report.recent, forKey: .recent)
    }
}

private struct LoopForm: Codable {
    let loop: ProcessReport.Loop

    init(_ loop: ProcessReport.Loop) { self.loop = loop }

    private enum Key: String, CodingKey {
        case name, threadID, isMain, isBlocked, call, busyFor, pending, counts, details
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        loop = ProcessReport.Loop(
            name: try values.decode(String.self, forKey: .name),
            threadID: try values.decode(Int32.self, forKey: .threadID),
            isMain: try values.decode(Bool.self, forKey: .isMain),
            isBlocked: try values.decode(Bool.self, forKey: .isBlocked),
            call: try values.decodeIfPresent(CallForm.self, forKey: .call)?.call,
            busyNanoseconds: try values.decodeIfPresent(Int64.self, forKey: .busyFor),
            pendingCount: try values.decode(Int.self, forKey: .pending),
            counts: try values.decode(ProcessReport.Counts.self, forKey: .counts),
            details: try values.decodeIfPresent(ProcessReport.Details.self, forKey: .details))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(loop.name, forKey: .name)
        try values.encode(loop.threadID, forKey: .threadID)
        try values.encode(loop.isMain, forKey: .isMain)
        try values.encode(loop.isBlocked, forKey: .isBlocked)
        try values.encodeIfPresent(loop.call.map(CallForm.init), forKey: .call)
        try values.encodeIfPresent(loop.busyNanoseconds, forKey: .busyFor)
        try values.encode(loop.pendingCount, forKey: .pending)
        try values.encode(loop.counts, forKey: .counts)
        try values.encodeIfPresent(loop.details, forKey: .details)
    }
}

private struct CallForm: Codable {
    let call: ProcessReport.Call

    init(_ call: ProcessReport.Call) { self.call = call }

    private enum Key: String, CodingKey { case kind, madeAt, duration }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        call = ProcessReport.Call(
            kind: try values.decode(String.self, forKey: .kind),
            madeAt: try values.decode(String.self, forKey: .madeAt),
            nanoseconds: try values.decodeIfPresent(Int64.self, forKey: .duration))
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(call.kind, forKey: .kind)
        try values.encode(call.madeAt, forKey: .madeAt)
        try values.encodeIfPresent(call.nanoseconds, forKey: .duration)
    }
}

extension ProcessReport.Counts: Codable {
    package init(from decoder: any Decoder) throws {
        let counts = try decoder.container(keyedBy: Key.self)
        for key in Key.allCases { values[key] = try counts.decodeIfPresent(Int64.self, forKey: key) }
    }

    package func encode(to encoder: any Encoder) throws {
        var counts = encoder.container(keyedBy: Key.self)
        for key in Key.allCases { try counts.encode(self[key], forKey: key) }
    }
}
