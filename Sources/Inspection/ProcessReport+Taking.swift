public import RunLoops

extension ProcessReport {
    /// Makes a report of the loops of this process.
    ///
    /// Blocks the calling thread until the loops have answered, for at most `timeout`. While an inspector or a watchdog is active,
    /// the report names the handlers that are being called; otherwise it names none.
    ///
    /// - Parameters:
    ///   - recorder: The flight recorder of the process, for the events of the last seconds and the duration of calls.
    ///   - timeout: The longest time to wait for the loops to list their inputs.
    ///
    /// > Thread safety: any thread. Not in asynchronous code, because it blocks.
    @available(
        *, noasync, message: "it blocks the thread until the loops answer; call it on a thread of yours"
    )
    public init(recorder: FlightRecorder? = nil, timeout: Duration = .milliseconds(100)) {
        self.init(looking: RunLoop.all, recorder, timeout)
    }

    private init(looking loops: [RunLoop], _ recorder: FlightRecorder?, _ timeout: Duration) {
        let before = loops.map(\.look)
        let answers = LoopAnswers(loops, before: .now + timeout)
        let snapshot = recorder?.snapshot()
        let now = Moment.now()
        processID = ProcessFile.processID
        program = ProcessFile.programName
        date = now.nanoseconds
        waits = Wait.all(RunLoop.waits)
        recent = snapshot.map(Recent.init)
        self.loops = zip(loops, before).enumerated().map { index, pair in
            let (loop, before) = pair
            return Loop(
                loop, before: before, details: answers[index], underWay: snapshot?.call(of: loop), now: now)
        }
    }
}

extension ProcessReport.Loop {
    fileprivate init(
        _ loop: RunLoop, before: LoopLook, details: LoopDetails?, underWay: FlightRecorder.Event?, now: Moment
    ) {
        let after = loop.look
        name = loop.name
        threadID = loop.threadID
        isMain = loop == .main
        let isSameCall = after.call != nil && after.call == before.call
        isBlocked = details == nil && isSameCall
        let duration = underWay.map { (now.instant - $0.start).wholeNanoseconds }
        call = after.call.map {
            ProcessReport.Call(
                kind: $0.kind.description, madeAt: $0.madeAt,
                nanoseconds: underWay?.place == $0.madeAt ? duration : nil)
        }
        busyNanoseconds = after.busySince.map { max(0, now.nanoseconds.clampedDifference($0.nanoseconds)) }
        pendingCount = loop.pendingCount
        counts = ProcessReport.Counts(of: loop)
        self.details = details.map { ProcessReport.Details($0, now: now) }
    }
}

extension ProcessReport.Details {
    fileprivate init(_ details: LoopDetails, now: Moment) {
        mode = details.mode
        depth = details.depth
        commonModes = details.commonModes
        inputs = details.inputs.map { ProcessReport.Input($0, now: now) }
    }
}

extension ProcessReport.Input {
    fileprivate init(_ input: LoopDetails.Input, now: Moment) {
        self.init(kind: "", madeAt: input.madeAt, modes: input.modes)
        switch input.kind {
        case .timer(let date, let interval, let missed):
            kind = "timer"
            dueIn = date.map { $0.nanoseconds.clampedDifference(now.nanoseconds) }
            self.interval = interval.wholeNanoseconds
            self.missed = missed
        case .port(let count, let limit, let waitingSenders, let carriesSignals):
            kind = "port"
            self.count = count
            self.limit = limit == 0 || carriesSignals ? nil : limit
            self.waitingSenders = waitingSenders
        case .descriptor(let descriptor):
            kind = "descriptor"
            self.descriptor = descriptor
        case .manualSource: kind = "manual source"
        case .observer: kind = "observer"
        case .other(let name, let counts):
            kind = name
            self.counts = counts.map { ProcessReport.Count(name: $0.name, value: $0.value) }
        }
    }
}

extension ProcessReport.Wait {
    /// Returns the waits for the report, and marks those that are part of a circle of threads that wait for each other.
    fileprivate static func all(_ waits: [WaitLook]) -> [ProcessReport.Wait] {
        waits.map { wait in
            ProcessReport.Wait(
                loop: wait.loop.map(\.name), operation: wait.operation, madeAt: wait.madeAt,
                waitsFor: wait.targets.map(\.name), hasDeadline: wait.endsByItself,
                isInCircle: wait.loop.map { leads(from: wait, to: $0, in: waits) } ?? false)
        }
    }

    /// True if the thread of `wait` waits for `loop`, directly or through a chain of loops, each of which waits for the next.
    private static func leads(from wait: WaitLook, to loop: RunLoop, in waits: [WaitLook]) -> Bool {
        var seen: Set<RunLoop> = []
        var ahead = wait.targets
        while let next = ahead.popLast() {
            if next == loop { return true }
            guard seen.insert(next).inserted else { continue }
            for wait in waits where wait.loop == next { ahead += wait.targets }
        }
        return false
    }
}

extension FlightRecorder.Snapshot {
    /// Returns the innermost handler that the thread of `loop` is calling; nil if there is none in the snapshot.
    fileprivate func call(of loop: RunLoop) -> FlightRecorder.Event? {
        guard let thread = threads.first(where: { $0.id == loop.threadID && !$0.hasEnded }) else {
            return nil
        }
        return thread.eventsUnderWay.last { event in
            if case .handler = event.kind { return true }
            return false
        }
    }
}
