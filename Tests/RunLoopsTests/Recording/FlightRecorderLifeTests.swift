import Glibc
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The start and the end of recorders and threads, and the limits of a recording.
@Suite(.disabled(if: ForcedRecording.isOn)) struct FlightRecorderLifeTests {
    @Test func `a process has one recorder at a time`() throws {
        let first = try FlightRecorder()
        #expect(throws: FlightRecorderError(.isRecordedAlready)) { try FlightRecorder() }
        first.mark("still recorded")
        #expect(first.snapshot().events.contains { $0.place == "still recorded" })
        first.stop()
        first.stop()
        let second = try FlightRecorder()
        defer { second.stop() }
        // A recorder that has been stopped does not end another one.
        first.stop()
        first.mark("of the second one")
        #expect(first.snapshot().threads.isEmpty)
        let places = second.snapshot().events.map(\.place)
        #expect(places.contains("of the second one") && !places.contains("still recorded"))
    }

    @Test func `a recorder that is released is stopped`() throws {
        do { _ = try FlightRecorder() }
        let next = try FlightRecorder()
        next.stop()
    }

    @Test func `without a recorder nothing is recorded and no thread has a ring`() throws {
        try onLoopThread { loop in
            loop.perform {}
            loop.pass()
        }
        #expect(Recorder.ring == nil && !Recorder.isOn && Recording.session == nil)
    }

    @Test func `loops from before and after the beginning are recorded, also in a run that goes on`() throws {
        let before = try RunLoopThread(name: "before")
        let isRunning = Gate()
        before.runLoop.perform { isRunning.open() }
        #expect(isRunning.wait())
        try RecordedRun.run { recorder in
            let after = try RunLoopThread(name: "after")
            for thread in [before, after] {
                let ran = Gate()
                thread.runLoop.perform { ran.open() }
                #expect(ran.wait())
                // The handler that opened the gate can still be running.
                let next = Gate()
                thread.runLoop.perform { next.open() }
                #expect(next.wait())
            }
            let snapshot = recorder.snapshot()
            for name in ["before", "after"] {
                #expect(try snapshot.thread(name).events.contains { $0.kind == .handler(.block) }, "\(name)")
            }
            after.stop()
        }
        before.stop()
    }

    // Guarantees: A handler that began before the recording, or ends after it, does not disturb it.
    @Test func `a handler that began before the recording, or outlives it, disturbs none`() throws {
        let thread = try RunLoopThread(name: "worker")
        let gates = (0..<4).map { _ in Gate() }
        thread.runLoop.perform {
            gates[0].open()
            _ = gates[1].wait()
        }
        #expect(gates[0].wait())
        let first = try FlightRecorder(detail: .everything)
        thread.runLoop.perform {
            gates[2].open()
            _ = gates[3].wait()
        }
        gates[1].open()
        #expect(gates[2].wait())
        #expect(try first.snapshot().thread("worker").eventsUnderWay.count == 1)
        first.stop()
        try RecordedRun.run { second in
            gates[3].open()
            let done = Gate()
            thread.runLoop.perform { done.open() }
            #expect(done.wait())
            thread.stop()
            thread.join()
            let worker = try second.snapshot().thread("worker")
            #expect(worker.eventsUnderWay.isEmpty)
            for event in worker.events { #expect(event.start >= second.snapshot().start) }
        }
    }

    @Test
    func `threads that have ended are kept until others need their place, and further ones are counted`()
        throws
    {
        try RecordedRun.run { recorder in
            recorder.mark("main")
            for index in 0..<40 {
                let thread = try BareThread { recorder.mark("ended") }
                thread.join()
                #expect(recorder.snapshot().threads.count == min(index + 2, FlightRecorder.mostThreads))
            }
            let kept = recorder.snapshot()
            #expect(kept.unrecordedThreadCount == 0)
            #expect(kept.threads.map(\.number) == [0] + Array(10...40))
            #expect(kept.threads.dropFirst().allSatisfy { $0.hasEnded })

            let mayEnd = Gate()
            let marked = Shared()
            let all = Gate()
            let threads = try (0..<40).map { _ in
                try BareThread {
                    recorder.mark("alive")
                    if marked.increment() == 39 { all.open() }
                    _ = mayEnd.wait()
                }
            }
            #expect(all.wait())
            let full = recorder.snapshot()
            #expect(full.threads.count == FlightRecorder.mostThreads)
            #expect(full.unrecordedThreadCount == 40 - (FlightRecorder.mostThreads - 1))
            #expect(full.threads.first?.number == 0 && !full.threads[0].hasEnded)
            mayEnd.open()
            for thread in threads { thread.join() }
        }
    }

    @Test
    func `snapshots, threads that begin and end, and recorders that come and go do not disturb each other`()
        throws
    {
        let end = ContinuousClock.now + .milliseconds(600)
        let isOver = Atomic(false)
        let makers = try (0..<2).map { _ in
            try BareThread {
                while !isOver.load(ordering: .relaxed) {
                    guard let thread = try? RunLoopThread(name: "short") else { continue }
                    for _ in 0..<20 { thread.runLoop.perform {} }
                    thread.stop()
                    thread.join()
                }
            }
        }
        var snapshots = 0
        while ContinuousClock.now < end {
            let recorder = try FlightRecorder(byteLimit: 256 << 10, detail: .everything)
            for _ in 0..<20 {
                let snapshot = recorder.snapshot()
                snapshots += 1
                #expect(snapshot.threads.count <= FlightRecorder.mostThreads)
                for event in snapshot.events { #expect(event.start <= snapshot.end) }
            }
            recorder.stop()
        }
        isOver.store(true, ordering: .relaxed)
        for maker in makers { maker.join() }
        #expect(snapshots > 0)
    }

    @Test func `the memory of a recording is divided into powers of two`() {
        #expect(FlightRecorder.eventCount(bytes: 1) == 256)
        #expect(FlightRecorder.eventCount(bytes: 8 << 20 / 32) == 8_192)
        #expect(FlightRecorder.eventCount(bytes: 24 * 1_024) == 1_024)
        #expect(FlightRecorder.eventCount(bytes: 24 * 1_024 - 1) == 512)
    }

    @Test func `a thread that has overwritten events says so`() throws {
        try RecordedRun.run(.everything, atMost: 1) { recorder in
            for _ in 0..<100 { recorder.mark("few") }
            #expect(recorder.snapshot().threads.first?.lacksEvents == false)
            for _ in 0..<1_000 { recorder.mark("many") }
            let thread = try #require(recorder.snapshot().threads.first)
            #expect(thread.lacksEvents && (192...256).contains(thread.events.count))
        }
    }

    @Test func `a snapshot goes back no further than its window`() throws {
        let recorder = try FlightRecorder(keeping: .milliseconds(40))
        defer { recorder.stop() }
        recorder.mark("old")
        try onLoopThread { $0.run(until: .now + .milliseconds(60)) }
        let loop = ContinuousClock.now
        while ContinuousClock.now - loop < .milliseconds(60) {}
        recorder.mark("new")
        let snapshot = recorder.snapshot()
        let marks = snapshot.events.filter { $0.kind == .mark }.map(\.place)
        #expect(marks == ["new"])
        #expect(snapshot.end - snapshot.start == .milliseconds(40))
    }

    @Test func `a child of a process without loops makes a recorder of its own`() async {
        await #expect(processExitsWith: .success) {
            let recorder = try FlightRecorder()
            recorder.mark("the parent")
            let child = Child {
                guard !Recorder.isOn, let own = try? FlightRecorder() else { return 1 }
                own.mark("the child")
                recorder.stop()
                let places = own.snapshot().threads.flatMap(\.events).map(\.place)
                let loop = RunLoop.current
                loop.perform {}
                loop.run(in: .default, until: .distantPast)
                own.stop()
                return places == ["the child"] && recorder.snapshot().threads.isEmpty ? 0 : 2
            }
            guard child.wait() == .exited(0) else { exit(3) }
            guard recorder.snapshot().threads.flatMap(\.events).map(\.place) == ["the parent"] else {
                exit(4)
            }
        }
    }

    @Test func `nothing is recorded in a forked child`() throws {
        let recorder = try FlightRecorder()
        defer { recorder.stop() }
        recorder.mark("the parent")
        let child = Child {
            recorder.mark("the child")
            recorder.stop()
            return Recorder.isOn ? 1 : 0
        }
        #expect(child.wait() == .exited(0))
        recorder.mark("the parent again")
        #expect(recorder.snapshot().events.map(\.place) == ["the parent", "the parent again"])
    }

    @Test func `a window or a memory without events ends the program with a message`() async {
        let window = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try FlightRecorder(keeping: .zero)
        }
        #expect(
            window?.message.contains(
                "FlightRecorder.init: a window of 0.0 seconds holds no event; use more than zero") == true)
        let bytes = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try FlightRecorder(byteLimit: 0)
        }
        #expect(
            bytes?.message.contains("FlightRecorder.init: 0 bytes hold no event; use more than zero") == true)
    }
}
