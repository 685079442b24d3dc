// What a loop that has never run holds when its thread ends.

extension LoopCore {
    /// True if the loop has never made a pass, and no request has ended its runs.
    var hasNeverRun: Bool {
        takeMail()
        return handle.counters.passes.value == 0 && !runs.requests.contains(.end)
    }

    /// What the loop holds, apart from its blocks, in words, with each place once.
    var unservedInputs: [String] {
        members.inputs.flatMap(\.unservedParts).wordsOfEachPlace + deferredWork.waiting
    }

    /// The number of things that are reported one by one.
    private static var mostReported: Int { 8 }

    /// Reports what a loop held that has never run, a line for each.
    static func reportUnserved(_ things: [String]) {
        for thing in things.prefix(mostReported) {
            RunLoopDiagnostics.report(
                "RunLoop: a thread has ended, and its loop has never run, so this was never served: \(thing); run the loop of that thread, or use RunLoop.main or the loop of a RunLoopThread"
            )
        }
        if things.count > mostReported {
            RunLoopDiagnostics.report(
                "RunLoop: a thread has ended, and its loop has never run: \(things.count - mostReported) more were never served"
            )
        }
    }
}
