import MessagePorts
import RunLoops
import TestSupport
import Testing

@testable import Inspection

/// The inspection of other processes, by this process and by the program.
@Suite(.disabled(if: ForcedRecording.isOn)) struct InspectorTests {
    private static let inspected = Program("Inspected")
    private static let inspect = Program("runloop-inspect")

    @Test func `a handler that sleeps is named by the program: loop, kind, place and time`() throws {
        try InspectorTests.inspected.whileRunning("sleeper", "idle") { process, _ in
            let ending = try InspectorTests.inspect.run("\(process)", "--once")
            #expect(ending.isSuccess, "\(ending.message)")
            let line = try #require(ending.lines.first { $0.hasPrefix("sleeper") })
            #expect(line.contains("BLOCKED"))
            #expect(line.contains(" in timer Inspected/main.swift:"))
            // The recorder knows when the call began.
            #expect(line.contains(/BLOCKED [0-9.]+ (ms|s) in/))
            #expect(ending.lines.contains { $0.hasPrefix("idle") && $0.contains("serves default") })
            #expect(
                ending.lines.contains { $0.hasPrefix("idle") && $0.contains(" 5 ") && $0.contains(" 8 ") })
        }
    }

    // Guarantees: The inspector answers while every loop of the process is blocked.
    @Test func `loops that wait for each other are named, with the places of their waits`() throws {
        try InspectorTests.inspected.whileRunning("pair", "unrecorded") { process, _ in
            let report = try RemoteInspector(processID: process).report()
            for name in ["left", "right"] {
                let loop = try #require(report.loops.first { $0.name == name })
                #expect(loop.isBlocked)
                #expect(loop.call?.kind == "block")
                #expect(loop.call?.madeAt.hasPrefix("Inspected/main.swift:") == true)
                #expect(loop.busyFor ?? .zero > .zero)
            }
            #expect(report.waits.count == 2)
            #expect(report.waits.allSatisfy { $0.madeAt.hasPrefix("Inspected/main.swift:") })
            #expect(report.waits.allSatisfy { $0.isInCircle && $0.hasDeadline })
            #expect(report.recent == nil)
        }
    }

    @Test func `a busy loop is not blocked, and its time is counted as busy`() throws {
        try InspectorTests.inspected.whileRunning("busy") { process, _ in
            let inspector = try RemoteInspector(processID: process)
            let first = try #require(inspector.report().loops.first { $0.name == "busy" })
            var second = first
            // The loop answers as soon as it has a processor. Between two of its handlers it is in no call.
            while second.counts[.passes] == first.counts[.passes] || second.call == nil {
                second = try #require(inspector.report().loops.first { $0.name == "busy" })
            }
            #expect(second.call?.kind == "block")
            #expect(second.call?.madeAt.hasPrefix("Inspected/main.swift:") == true)
            #expect(!second.isBlocked)
            #expect(second.counts[.busyTime] > first.counts[.busyTime])
            #expect(second.counts[.processorTime] > first.counts[.processorTime])
            #expect(second.counts[.messages] > first.counts[.messages])
        }
    }

    @Test func `the program saves the last seconds in each form, and says what is missing`() throws {
        let place = try ScratchDirectory()
        defer { try? place.remove() }
        try InspectorTests.inspected.whileRunning("idle") { process, _ in
            for (option, beginning) in [("--html", "<!DOCTYPE html>"), ("--chrome", "{\"displayTimeUnit\"")] {
                let saved = try InspectorTests.inspect.run("\(process)", option, "-")
                #expect(saved.isSuccess, "\(saved.message)")
                #expect(saved.lines.first?.hasPrefix(beginning) == true)
                #expect(saved.lines.contains { $0.contains("ready") })
            }
            let path = place.path + "/trace"
            #expect(try InspectorTests.inspect.run("\(process)", "--trace", path).isSuccess)
            #expect(try InspectorTests.inspect.run("\(process)", "--trace", "/dev/full").code == 1)
            let metrics = try InspectorTests.inspect.run("\(process)", "--metrics")
            #expect(metrics.lines.contains { $0.hasPrefix("run_loop_pending{loop=\"idle\"}") })
            let json = try InspectorTests.inspect.run("\(process)", "--json")
            #expect(try ProcessReport(json: json.lines.joined()).processID == process)
            #expect(try InspectorTests.inspect.run().lines.contains { $0.hasPrefix("\(process)  Inspected") })
        }
        try InspectorTests.inspected.whileRunning("unrecorded") { process, _ in
            let ending = try InspectorTests.inspect.run("\(process)", "--html", "-")
            #expect(ending.code == 1)
            #expect(ending.message == "runloop-inspect: the process has no flight recorder\n")
        }
    }

    @Test(arguments: [
        (["x"], "\"x\" is not the ID of a process"), (["1", "--nonsense"], "there is no option --nonsense"),
        (["1", "--html"], "--html needs the name of a file"), (["1", "--serve", "70000"], "is not a port"),
        (["1", "--once", "more"], "more is one argument too many"),
    ])
    func `a wrong call is explained`(arguments: [String], message: String) throws {
        let ending = try InspectorTests.run(arguments)
        #expect(ending.code == 2)
        #expect(ending.message.contains(message))
    }

    private static func run(_ arguments: [String]) throws -> Program.Ending {
        switch arguments.count {
        case 1: try inspect.run(arguments[0])
        case 2: try inspect.run(arguments[0], arguments[1])
        default: try inspect.run(arguments[0], arguments[1], arguments[2])
        }
    }

    @Test func `a process without an inspector, and a process that is none, are said`() throws {
        let ending = try InspectorTests.inspect.run("1", "--once")
        #expect(ending.code == 1)
        #expect(ending.message.contains("the process has no inspector"))
    }

    @Test func `a process has one inspector, and another one when that has stopped`() throws {
        let first = try Inspector()
        #expect(throws: MessagePortError.self) { try Inspector() }
        first.stop()
        first.stop()
        let second = try Inspector()
        #expect(RemoteInspector.processIDs.contains(InspectorTests.ownID))
        second.stop()
        #expect(!RemoteInspector.processIDs.contains(InspectorTests.ownID))
    }

    private static var ownID: Int32 { ProcessFile.processID }

    // Guarantees: Nothing that a process sends to the inspector can end it, or stop it from answering others.
    @Test func `garbage and unknown questions are refused, and the next question is answered`() throws {
        let inspector = try Inspector()
        defer { inspector.stop() }
        let port = try RemotePort(named: Inspector.name(of: InspectorTests.ownID))
        let reply = try port.request([1, 2, 3], id: 99)
        #expect(
            String(decoding: reply.bytes, as: UTF8.self) == "this inspector does not know the question 99")
        try port.send([0xff], id: 1)
        #expect(throws: MessagePortError.self) { try port.send([UInt8](repeating: 0, count: 65), id: 1) }
        let remote = try RemoteInspector(processID: InspectorTests.ownID)
        #expect(try remote.report().processID == InspectorTests.ownID)
    }

    // Guarantees: A process that has taken the name of another process's inspector is not believed.
    @Test func `a name that another process has taken is not believed`() throws {
        // This process registers the name of the inspector of process 1.
        let port = try MessagePort(named: Inspector.name(of: 1))
        defer { port.invalidate() }
        let thread = try RunLoopThread(name: "impostor")
        defer { thread.stop() }
        thread.runLoop.perform { try? RunLoop.current.add(port, forMode: .default) { _ in } }
        #expect(throws: RemoteInspectorError.self) { try RemoteInspector(processID: 1) }
    }

    // Guarantees: An inspector that is not asked wakes no loop.
    @Test func `an inspector at rest wakes no loop`() throws {
        let inspector = try Inspector()
        defer { inspector.stop() }
        let own = try #require(RunLoop.all.last { $0.name == "inspector" })
        let before = own.statistics
        let thread = try RunLoopThread(name: "at rest")
        defer { thread.stop() }
        let served = Gate()
        thread.runLoop.perform { served.open() }
        #expect(served.wait())
        #expect(own.statistics.wakeUps - before.wakeUps <= 1)
    }
}
