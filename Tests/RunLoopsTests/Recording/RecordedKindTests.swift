import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The events that need more than one handler on one loop, and the sizes of a recording.
@Suite(.disabled(if: ForcedRecording.isOn)) struct RecordedKindTests {
    @Test func `a job, deferred work and an end handler are recorded as such`() throws {
        try RecordedRun.run { recorder in
            let thread = try RunLoopThread(name: "kinds")
            let job = Gate()
            enqueueJob(on: thread.runLoop) { job.open() }
            #expect(job.wait())
            let deferred = Gate()
            try thread.runLoop.performAndWait {
                RunLoop.current.performAtEndOfPass { deferred.open() }
                RunLoop.current.addEndHandler {}
            }
            #expect(deferred.wait())
            thread.stop()
            thread.join()
            let events = try recorder.snapshot().thread("kinds").events
            for kind in [RunLoop.HandlerKind.job, .deferredWork, .endHandler] {
                #expect(events.contains { $0.kind == .handler(kind) }, "\(kind)")
            }
        }
    }

    @Test func `a wait that would close a circle is recorded as refused, and is not under way`() throws {
        try RecordedRun.run { recorder in
            let sender = try RunLoopThread(name: "sender")
            let line = try onLoopThread { loop in
                let port = Port<Int>(queueLimit: 1)
                let line = #line - 1
                loop.add(port, forMode: .default) { _ in }
                try port.send(1)
                try sender.runLoop.performAndWait {
                    _ = #expect(throws: PortSendError<Int>.self) { try port.send(2) }
                }
                return line
            }
            sender.stop()
            sender.join()
            let snapshot = recorder.snapshot()
            let waits = snapshot.events.filter { $0.kind == .wait(isRefused: true) }
            #expect(waits.count == 1)
            #expect(waits.allSatisfy { $0.place.hasSuffix("RecordedKindTests.swift:\(line)") })
            #expect(snapshot.threads.allSatisfy { $0.eventsUnderWay.isEmpty })
        }
    }

    @Test func `a node that is sent without a stamp loses the stamp of an earlier message`() throws {
        let recorder = try FlightRecorder(detail: .sampled)
        defer { recorder.stop() }
        let mailbox = Mailbox()
        let nodes = (0..<4).map { _ in Node.make() }
        defer { for node in nodes { PortCore.discard(node) } }
        // The mailbox is neither empty nor armed, so the sender has no reason to stamp the next messages.
        #expect(isQueued(mailbox.push(Mailbox.Chain(nodes[0]))))
        for node in nodes[1...] { node.setStamp(77) }
        mailbox.noteSend(Mailbox.Chain(nodes[1]), .job)
        nodes[3].next = nodes[2]
        nodes[2].next = nil
        mailbox.noteSend(Mailbox.Chain(newest: nodes[3], count: 2), .job)
        #expect(nodes[1...].map { $0.takeStamp() } == [0, 0, 0])
        _ = mailbox.close()
    }

    private func isQueued(_ push: Mailbox.Push) -> Bool {
        if case .queued = push { true } else { false }
    }

    @Test func `an event has 24 bytes, a node has one cache line, and all events fit into the memory`() {
        #expect(MemoryLayout<RecordedEvent>.size == 24 && EventRing.bytes(1) == 24)
        #expect(Node.stride == 64)
        for limit in [8 << 20, 1 << 20, 3 << 20, 256 * 24 * FlightRecorder.mostThreads] {
            let count = FlightRecorder.eventCount(bytes: limit / FlightRecorder.mostThreads)
            let bytes = EventRing.bytes(count) * FlightRecorder.mostThreads
            #expect(bytes <= limit && bytes > limit / 2)
        }
    }

    @Test func `snapshots stay whole while rings overflow, threads come and go, and the process forks`()
        throws
    {
        try RecordedRun.run(.everything, atMost: 1) { recorder in
            let isOver = Atomic(false)
            let writer = try BareThread {
                while !isOver.load(ordering: .relaxed) {
                    recorder.interval("outer") { recorder.mark("inner") }
                }
            }
            let maker = try BareThread {
                while !isOver.load(ordering: .relaxed) {
                    guard let short = try? BareThread({ recorder.mark("short") }) else { continue }
                    short.join()
                }
            }
            // What the child does, this thread and the others have done before they are forked.
            recorder.mark("outer")
            for place in ["inner", "short"] {
                waitUntil("an event of \(place)") {
                    recorder.snapshot().events.contains { $0.place == place }
                }
            }
            var overflowed = 0
            for _ in 0..<20 {
                let child = Child(whileOthersRun: true) {
                    recorder.mark("the child")
                    return Recorder.isOn ? 1 : 0
                }
                let snapshot = recorder.snapshot()
                #expect(child.wait() == .exited(0))
                for thread in snapshot.threads {
                    if thread.lacksEvents { overflowed += 1 }
                    let ends = thread.events.map { $0.start + ($0.duration ?? .zero) }
                    #expect(ends == ends.sorted() && ends.last ?? snapshot.end <= snapshot.end)
                    for event in thread.events {
                        #expect(["outer", "inner", "short"].contains(event.place))
                        #expect(event.depth == (event.place == "inner" ? 1 : 0))
                    }
                }
            }
            isOver.store(true, ordering: .relaxed)
            writer.join()
            maker.join()
            #expect(overflowed > 0)
        }
    }
}
