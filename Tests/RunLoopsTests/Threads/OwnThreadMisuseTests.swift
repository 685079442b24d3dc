import RunLoops
import TestExpectations
import TestSupport
import Testing

/// If a member for a loop's own thread is called on another thread, the program ends with a message that says what to do instead.
@Suite struct OwnThreadMisuseTests {
    @Test(arguments: LoopMember.allCases)
    func `a member of a loop called on another thread ends the program with advice`(
        member: LoopMember
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [member] in
            let thread = try RunLoopThread(name: "somebody's")
            member.use(thread.runLoop)
        }
        let (name, instead) = member.message
        expect(
            result, says: "\(name): called outside the loop's own thread (run loop \"somebody's\"); ", instead
        )
    }

    @Test(arguments: InputMember.allCases)
    func `a member of an input called on another thread ends the program with advice`(
        member: InputMember
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [member] in
            try onLoopThread { loop in
                // This is safe as far as the misuse is detected: this thread waits for the other one.
                nonisolated(unsafe) let call = member.prepare(in: loop)
                try BareThread { unsafe call() }.join()
            }
        }
        expect(
            result, says: "\(member.rawValue): called outside the thread of the loop it is in",
            "; perform a block on that loop and call it there")
    }
}

/// Expects texts in the message of a program that has ended.
func expect(
    _ result: ExitTest.Result?, says parts: String...,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in parts {
        #expect(said.contains(part), sourceLocation: sourceLocation)
    }
}

/// The members of a loop that are for its own thread.
enum LoopMember: String, Codable, CaseIterable {
    case addTimer, addDescriptor, addManual
    case addObserver, addPort, addSignalPort, addCommonMode
    case run, runUntil, runBefore, runIn, limitDate
    case getWaitPolicy, setWaitPolicy, getMeasuresHandlers, setMeasuresHandlers

    /// The beginning and the end of the member's message.
    var message: (name: String, instead: String) {
        let add = "and add the \(noun) there"
        return switch self {
        case .addTimer, .addObserver, .addPort: ("RunLoop.add(\(noun))", add)
        case .addDescriptor, .addManual, .addSignalPort: ("RunLoop.add(\(noun))", add)
        case .addCommonMode: ("RunLoop.addCommonMode", "perform a block on the loop and add the mode there")
        case .run, .runUntil, .runBefore, .runIn, .limitDate:
            ("RunLoop.run", "perform a block on the loop, which runs there, or use RunLoopThread")
        case .getWaitPolicy: ("RunLoop.waitPolicy", "perform a block on the loop and read it there")
        case .setWaitPolicy: ("RunLoop.waitPolicy", "perform a block on the loop and set it there")
        case .getMeasuresHandlers:
            ("RunLoop.measuresHandlers", "perform a block on the loop and read it there")
        case .setMeasuresHandlers:
            ("RunLoop.measuresHandlers", "perform a block on the loop and set it there")
        }
    }

    private var noun: String {
        switch self {
        case .addTimer: "timer"
        case .addObserver: "observer"
        case .addPort, .addSignalPort: "port"
        default: "source"
        }
    }

    func use(_ loop: RunLoop) {
        let timer = Timer(timeInterval: .zero, repeats: false) { _ in }
        let descriptor = DescriptorSource(0, interest: .read) { _, _ in }
        let manual = ManualSource {}
        let observer = RunLoop.Observer(activities: .entry) { _, _ in }
        switch self {
        case .addTimer: loop.add(timer, forMode: .default)
        case .addDescriptor:
            do { try loop.add(descriptor, forMode: .default) } catch { Issue.record(error) }
        case .addManual: loop.add(manual, forMode: .default)
        case .addObserver: loop.add(observer, forMode: .default)
        case .addPort: loop.add(Port<Int>(), forMode: .default) { _ in }
        case .addSignalPort: loop.add(Port<Void>(), forMode: .default) {}
        case .addCommonMode: loop.addCommonMode(.init("custom"))
        case .run: loop.run()
        case .runUntil: loop.run(until: .now)
        case .runBefore: loop.run(mode: .default, before: .now)
        case .runIn: loop.run(in: .default)
        case .limitDate: _ = loop.limitDate(forMode: .default)
        case .getWaitPolicy: _ = loop.waitPolicy
        case .setWaitPolicy: loop.waitPolicy = .park
        case .getMeasuresHandlers: _ = loop.measuresHandlers
        case .setMeasuresHandlers: loop.measuresHandlers = true
        }
    }
}

/// The members of inputs that are for the thread of the input's loop.
enum InputMember: String, Codable, CaseIterable {
    case fireDate = "Timer.fireDate"
    case tolerance = "Timer.tolerance"
    case fire = "Timer.fire"
    case interest = "DescriptorSource.interest"
    case libraryInterest = "LibrarySource.setInterest"
    case libraryDeadline = "LibrarySource.deadline"
    case libraryModes = "LibrarySource.keepsModesAlive"

    /// Adds an input to a loop.
    ///
    /// - Returns: A closure that uses the member.
    func prepare(in loop: RunLoop) -> () -> Void {
        let timer = Timer(timeInterval: .seconds(60), repeats: true) { _ in }
        loop.add(timer, forMode: .default)
        switch self {
        case .fireDate: return { timer.fireDate = .now }
        case .tolerance: return { timer.tolerance = .seconds(1) }
        case .fire: return { timer.fire() }
        case .libraryInterest, .libraryDeadline, .libraryModes:
            do {
                let source = try LibrarySource { _ in }
                try loop.add(source, forMode: .default)
                return { use(source) }
            } catch {
                Issue.record(error)
                return {}
            }
        case .interest:
            do {
                let source = DescriptorSource(try Wire.pipe().near, interest: .read) { _, _ in }
                try loop.add(source, forMode: .default)
                return { source.interest = .write }
            } catch {
                Issue.record(error)
                return {}
            }
        }
    }

    private func use(_ source: LibrarySource) {
        switch self {
        case .libraryInterest: source.setInterest(.read, of: 0)
        case .libraryDeadline: source.deadline = .now
        default: source.keepsModesAlive = false
        }
    }
}
