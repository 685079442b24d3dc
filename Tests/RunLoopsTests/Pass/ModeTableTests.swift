import TestSupport
import Testing

@testable import RunLoops

/// The state that a loop keeps for a mode, and its lifetime.
@Suite struct ModeTableTests {
    private let other = RunLoop.Mode("other")
    private let third = RunLoop.Mode("third")

    private func modeCount(_ loop: RunLoop) -> Int { loop.core("test", "test").members.modes.count }

    @Test func `a mode is known while it is common, holds an input, or runs`() {
        var modes = ModeTable()
        #expect(modes.count == 1)
        modes.countInput(in: other, by: 1)
        modes.countInput(in: third, by: 2)
        #expect(modes.count == 3)
        modes.run(in: other)
        modes.countInput(in: other, by: -1)
        #expect(modes.count == 3)
        #expect(!modes.isAlive(other) && modes.isAlive(third))
        modes.run(in: third)
        #expect(modes.count == 2)
        modes.countInput(in: third, by: -1)
        #expect(modes.isAlive(third) == true)
        modes.run(in: nil)
        #expect(modes.count == 2)
        modes.countInput(in: third, by: -1)
        #expect(modes.count == 1)
        #expect(modes.addCommon(other) && !modes.addCommon(other) && !modes.addCommon(.default))
        modes.countInput(in: other, by: 1)
        modes.countInput(in: other, by: -1)
        #expect(modes.isCommon(other) && modes.common == [.default, other])
        #expect(modes.count == 2)
    }

    @Test func `the mode that runs keeps what is known of it when others are forgotten`() {
        var modes = ModeTable()
        for number in 0..<30 { modes.countInput(in: RunLoop.Mode("\(number)"), by: number + 1) }
        modes.run(in: RunLoop.Mode("29"))
        for number in 0..<29 { modes.countInput(in: RunLoop.Mode("\(number)"), by: -number - 1) }
        #expect(modes.count == 2)
        #expect(modes.isAlive(RunLoop.Mode("29")) && modes.isCommon(.default))
        #expect(modes.runningIsAlive == true)
        modes.countInput(in: RunLoop.Mode("29"), by: -29)
        #expect(modes.isAlive(RunLoop.Mode("29")) && modes.runningIsAlive)
        modes.countInput(in: RunLoop.Mode("29"), by: -1)
        #expect(!modes.isAlive(RunLoop.Mode("29")) && !modes.runningIsAlive)
        modes.run(in: nil)
        #expect(modes.count == 1)
    }

    /// A use of a private mode.
    enum Use: CaseIterable {
        case port, timer, source, observer, block, nothing, limitDate
    }

    @Test(arguments: Use.allCases) func `a loop forgets the mode of each wait when nothing uses it any more`(
        use: Use
    ) throws {
        try onLoopThread { loop in
            var runs = 0
            for number in 0..<50 {
                let mode = RunLoop.Mode("wait \(number)")
                // During a run in another mode, whose state must remain.
                loop.perform {
                    wait(use, loop, mode)
                    #expect(loop.currentMode == .default)
                }
                loop.run(until: .distantPast)
                runs += 1
            }
            #expect(modeCount(loop) == 1)
            #expect(runs == 50)
        }
    }

    /// Uses a mode, and removes everything from it.
    private func wait(_ use: Use, _ loop: RunLoop, _ mode: RunLoop.Mode) {
        switch use {
        case .port:
            let port = Port<Int>()
            loop.add(port, forMode: mode) { _ in }
            #expect(loop.run(in: mode, until: .distantPast) == .timedOut)
            loop.remove(port, forMode: mode)
        case .timer:
            loop.add(Timer(fireAt: .now, interval: .zero, repeats: false) { _ in }, forMode: mode)
            #expect(loop.run(in: mode) == .finished)
        case .source:
            let source = ManualSource {}
            loop.add(source, forMode: mode)
            source.signal()
            #expect(loop.run(mode: mode, before: .distantFuture))
            source.invalidate()
        case .observer:
            let observer = RunLoop.Observer(activities: .all) { _, _ in }
            loop.add(observer, forMode: mode)
            #expect(loop.run(in: mode) == .finished)
            loop.remove(observer, forMode: mode)
        case .block:
            loop.perform(inModes: [mode]) {}
            #expect(loop.run(in: mode) == .finished)
        case .nothing: #expect(loop.run(in: mode) == .finished)
        case .limitDate: #expect(loop.limitDate(forMode: mode) == nil)
        }
    }

    @Test func `a mode that was forgotten in an inner run is that of the outer run still`() throws {
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: other) { log.add($0) }
            loop.perform(inModes: [other]) {
                loop.remove(port, forMode: RunLoop.Mode("other"))
                loop.perform(inModes: [.default]) {}
                #expect(loop.run(in: .default) == .finished)
                loop.add(port, forMode: RunLoop.Mode("other")) { log.add($0) }
                #expect(throws: Never.self) { try port.send(1) }
            }
            #expect(loop.run(mode: other, before: .distantFuture))
            #expect(log.entries == [1])
        }
    }

    @Test func `an input may be in a hundred modes, and is served in those that it has not left`() throws {
        try onLoopThread { loop in
            let modes = (0..<100).map { RunLoop.Mode("mode \($0)") }
            let log = Log<Int>()
            let port = Port<Int>()
            let timer = Timer(fireAt: .now, interval: .seconds(1_000), repeats: true) { _ in log.add(-1) }
            for (number, mode) in modes.enumerated() {
                loop.add(port, forMode: mode) { _ in log.add(number) }
                loop.add(timer, forMode: mode)
            }
            for mode in modes[10..<90] {
                loop.remove(port, forMode: mode)
                loop.remove(timer, forMode: mode)
            }
            for number in 0..<100 {
                timer.fireDate = .now
                try port.send(number)
                let isIn = number < 10 || number >= 90
                let before = log.entries.count
                #expect(loop.run(in: modes[number], until: .distantPast) == (isIn ? .timedOut : .finished))
                let served = Array(log.entries.dropFirst(before))
                // The next mode in which the port is serves the messages of the modes that the port has left.
                #expect(isIn ? served.contains(number) && served.contains(-1) : served.isEmpty)
            }
        }
    }
}
