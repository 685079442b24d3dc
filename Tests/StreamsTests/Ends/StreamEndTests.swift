import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Any thread can end or remove a connection, a datagram socket or a listener, whatever its loop does meanwhile.
@Suite struct StreamEndTests {
    typealias Kind = StreamSpecimen.Kind
    typealias Act = StreamSpecimen.Act

    /// The ways in which another thread, or the handler itself, ends or removes an object.
    enum Way: CaseIterable {
        case here, thread, deinitializer, otherLoop, severalThreads

        /// The ways of other threads than the loop's.
        static let elsewhere = allCases.filter { $0 != .here }

        func end(_ specimen: StreamSpecimen, by act: Act = .end) throws {
            switch self {
            case .here: specimen.act(act)
            case .thread: try BareThread { specimen.act(act) }.join()
            case .deinitializer:
                try BareThread {
                    let owner = Parting { specimen.act(act) }
                    owner.hold()
                }.join()
            case .otherLoop:
                let other = try RunLoopThread(name: "other")
                try other.runLoop.performAndWait { specimen.act(act) }
                other.stop()
            case .severalThreads: try Threads(4) { _ in specimen.act(act) }.join()
            }
        }
    }

    /// Checks that an object has ended once, on the thread of its loop.
    private func expectEnd(of specimen: StreamSpecimen) {
        #expect(!specimen.isOpen())
        #expect(specimen.ends.entries == Array(repeating: true, count: specimen.reportCount))
        #expect(specimen.releases.entries == [true])
    }

    // Guarantees: After an end on any thread has returned, no call of the object's handlers begins, except the report of the end.
    @Test(arguments: Kind.allCases, Way.elsewhere)
    func `no call begins after an end elsewhere has returned, even if the object is due`(
        kind: Kind, way: Way
    ) throws {
        let stage = try StreamSpecimenStage(kind)
        try stage.whileItIsDue {
            try way.end(stage.specimen)
            #expect(!stage.specimen.isOpen())
        }
        waitUntil("the handlers are released") { !stage.specimen.releases.entries.isEmpty }
        try stage.pass()
        expectEnd(of: stage.specimen)
        stage.stop()
        #expect(stage.specimen.calls.count == 0)
    }

    @Test(arguments: Kind.allCases, Way.elsewhere)
    func `an end elsewhere wakes a loop that sleeps, which releases the handlers and reports the end`(
        kind: Kind, way: Way
    ) throws {
        let stage = try StreamSpecimenStage(kind)
        try stage.specimen.provoke()
        waitUntil("the handler is called") { stage.specimen.calls.count == 1 }
        try stage.awaitSleep()
        try way.end(stage.specimen)
        waitUntil("the handlers are released") { !stage.specimen.releases.entries.isEmpty }
        expectEnd(of: stage.specimen)
        stage.stop()
        #expect(stage.specimen.calls.count == 1)
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func `an end in the object's own handler makes that call the last one`(kind: Kind, way: Way) throws {
        let stage = try StreamSpecimenStage(kind) { specimen in
            do { try way.end(specimen) } catch { Issue.record(error) }
        }
        try stage.whileItIsDue()
        waitUntil("the handlers are released") { !stage.specimen.releases.entries.isEmpty }
        try stage.pass()
        expectEnd(of: stage.specimen)
        stage.stop()
        #expect(stage.specimen.calls.count == 1)
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func `of two objects that are due in one step, the first can have the second ended`(
        kind: Kind, way: Way
    ) throws {
        try onLoopThread { loop in
            let pair = Log<StreamSpecimen>()
            for index in 0..<2 {
                pair.add(
                    try StreamSpecimen(kind) { _ in
                        do { try way.end(pair.entries[1 - index]) } catch { Issue.record(error) }
                    })
            }
            for specimen in pair.entries { try specimen.provoke() }
            loop.run(until: "a handler is called") { pair.entries.contains { $0.calls.count > 0 } }
            loop.settle()
            let (first, second) = try #require(
                pair.entries[0].calls.count == 1
                    ? (pair.entries[0], pair.entries[1]) : (pair.entries[1], pair.entries[0]))
            #expect(first.isOpen() && first.calls.count == 1)
            #expect(second.calls.count == 0)
            expectEnd(of: second)
            first.act(.end)
            for specimen in pair.entries { specimen.clean() }
            pair.removeAll()
        }
    }

    // Guarantees: After a removal on any thread has returned, no call of the object's handlers begins in that mode.
    @Test(arguments: Kind.allCases, Way.elsewhere)
    func `no call begins after a removal elsewhere has returned, until the object is added again`(
        kind: Kind, way: Way
    ) throws {
        for act in Act.removals {
            let stage = try StreamSpecimenStage(kind)
            try stage.whileItIsDue { try way.end(stage.specimen, by: act) }
            try stage.pass()
            #expect(stage.specimen.calls.count == 0)
            #expect(stage.specimen.isOpen() && stage.specimen.ends.entries.isEmpty)
            try stage.thread.runLoop.performAndWait { [stage] in try stage.specimen.addAgain() }
            waitUntil("what came meanwhile is served") { stage.specimen.calls.count == 3 }
            #expect(stage.specimen.isOpen() && stage.specimen.ends.entries.isEmpty)
            stage.stop()
            #expect(stage.specimen.releases.entries == [true])
        }
    }

    // Guarantees: After a removal on any thread has returned, no call of the object's handlers begins in that mode.
    @Test(arguments: Kind.allCases, Way.allCases)
    func `a removal in the object's own handler makes that call the last one until the object is added again`(
        kind: Kind, way: Way
    ) throws {
        for act in Act.removals {
            let stage = try StreamSpecimenStage(kind) { specimen in
                if specimen.calls.count > 1 { return }
                do { try way.end(specimen, by: act) } catch { Issue.record(error) }
            }
            try stage.whileItIsDue()
            waitUntil("the handler is called") { stage.specimen.calls.count > 0 }
            try stage.pass()
            #expect(stage.specimen.calls.count == 1)
            try stage.thread.runLoop.performAndWait { [stage] in try stage.specimen.addAgain() }
            waitUntil("the rest is served") { stage.specimen.calls.count == 3 }
            #expect(stage.specimen.isOpen() && stage.specimen.ends.entries.isEmpty)
            stage.stop()
        }
    }

    @Test(arguments: Kind.allCases, Way.allCases)
    func `of two objects that are due in one step, the first can have the second removed`(
        kind: Kind, way: Way
    ) throws {
        for act in Act.removals {
            try onLoopThread { loop in
                let pair = Log<StreamSpecimen>()
                for index in 0..<2 {
                    pair.add(
                        try StreamSpecimen(kind) { _ in
                            do { try way.end(pair.entries[1 - index], by: act) } catch { Issue.record(error) }
                        })
                }
                for specimen in pair.entries { try specimen.provoke() }
                loop.run(until: "a handler is called") { pair.entries.contains { $0.calls.count > 0 } }
                loop.settle()
                #expect(pair.entries.map(\.calls.count).sorted() == [0, 1])
                #expect(pair.entries.allSatisfy { $0.isOpen() && $0.ends.entries.isEmpty })
                for specimen in pair.entries {
                    specimen.act(.end)
                    specimen.clean()
                }
                pair.removeAll()
            }
        }
    }

    // Guarantees: The end of a socket is reported once, after all other handlers, whichever thread ends it.
    @Test(arguments: Kind.allCases)
    func `an end beside the end of the loop is reported once`(kind: Kind) throws {
        for _ in 0..<20 {
            let stage = try StreamSpecimenStage(kind)
            let ending = try BareThread { [specimen = stage.specimen] in specimen.act(.end) }
            stage.stop()
            ending.join()
            expectEnd(of: stage.specimen)
        }
    }

    @Test(arguments: [Kind.connection, .pipes, .datagrams])
    func `an object in no mode that is ended elsewhere while its loop ends is reported once`(
        kind: Kind
    ) throws {
        let stage = try StreamSpecimenStage(kind)
        try stage.thread.runLoop.performAndWait { [stage] in
            stage.specimen.act(.removeFromAllModes)
            // The loop releases this handler while it ends.
            let parting = Parting {
                do { try BareThread { stage.specimen.act(.end) }.join() } catch { Issue.record(error) }
            }
            let timer = Timer(timeInterval: .seconds(600), repeats: true) { _ in parting.hold() }
            RunLoop.current.add(timer, forMode: .default)
        }
        stage.stop()
        expectEnd(of: stage.specimen)
    }
}
