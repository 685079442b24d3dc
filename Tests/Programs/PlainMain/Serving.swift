import Dispatch
import RunLoops
import TestSupport

/// The modes in which the main loop serves the main queue, and the steps of a pass in which it does.
enum Serving {
    /// Blocks that were dispatched before the loop was made or ran, and their place in a pass.
    static func order() throws {
        let gate = Gate()
        DispatchQueue.global().async {
            for number in 1...3 { DispatchQueue.main.async { tell("queue", number) } }
            gate.open()
        }
        _ = gate.wait()
        let port = Port<Void>()
        RunLoop.main.add(port, forMode: .default) { tell("port") }
        try port.send()
        Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in
            tell("timer")
            RunLoop.main.perform { tell("block") }
        }
        tell(RunLoop.main.run(in: .default, until: .now + .milliseconds(20)))
    }

    /// Runs inside a block of the main queue.
    static func nested() {
        DispatchQueue.main.async {
            DispatchQueue.main.async { tell("second block") }
            tell("empty:", RunLoop.main.run(in: .default))
            let port = Port<Void>()
            RunLoop.main.add(port, forMode: .default) {
                tell("port")
                port.invalidate()
                let delay = Duration.milliseconds(5)
                Timer.scheduledTimer(withTimeInterval: delay, repeats: false) { _ in tell("timer") }
            }
            do { try port.send() } catch { tell(error) }
            tell("with inputs:", RunLoop.main.run(in: .default))
            tell("first block ends")
        }
        DispatchQueue.main.async { RunLoop.main.perform { RunLoop.main.stop() } }
        RunLoop.main.run()
        // A block that is dispatched during a pass is announced once.
        for _ in 1...2 {
            let result = RunLoop.main.run(
                in: .default, until: .now + .milliseconds(20), returnAfterSourceHandled: true)
            tell("afterwards:", result)
        }
    }

    /// Runs inside other handlers.
    static func insideHandler() {
        Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in
            DispatchQueue.main.async {
                tell("block:", here())
                RunLoop.main.stop()
            }
            RunLoop.main.run()
            tell("timer ends")
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        let queue = DispatchQueue(label: "other")
        queue.sync {
            DispatchQueue.main.async {
                tell("block:", here())
                RunLoop.main.stop()
            }
            tell("other queue:", here())
            RunLoop.main.run()
        }
    }

    static func modes() {
        let quiet = RunLoop.Mode("quiet")
        RunLoop.main.add(ManualSource {}, forMode: quiet)
        DispatchQueue.main.async { tell("served in", RunLoop.main.currentMode?.rawValue ?? "none") }
        Task { @MainActor in
            tell("task in", RunLoop.main.currentMode?.rawValue ?? "none")
            RunLoop.main.stop()
        }
        tell("quiet:", RunLoop.main.run(in: quiet, until: .now + .milliseconds(20)))
        RunLoop.main.addCommonMode(quiet)
        tell("quiet:", RunLoop.main.run(in: quiet))
        tell("empty:", RunLoop.main.run(in: .init("empty")))
    }

    /// Serving the main queue counts as serving a source, and leaves no stale announcement.
    static func handled() {
        DispatchQueue.main.async {
            tell("first")
            DispatchQueue.main.async { tell("second") }
        }
        for _ in 1...3 {
            let result = RunLoop.main.run(
                in: .default, until: .now + .milliseconds(20), returnAfterSourceHandled: true)
            tell(result)
        }
    }

    /// Runs of one pass, one directly after another.
    static func polled() {
        let served = Shared()
        var missed = 0
        for round in 1...1_000 {
            DispatchQueue.main.async { served.increment() }
            RunLoop.main.run(until: .distantPast)
            if served.count != round { missed += 1 }
        }
        tell("missed:", missed)
    }

    /// A run of the main loop does not finish, and a stop ends the run, even a stop before it.
    static func ends() {
        tell("with a deadline:", RunLoop.main.run(in: .default, until: .now + .milliseconds(20)))
        DispatchQueue.main.async { RunLoop.main.stop() }
        tell("from the queue:", RunLoop.main.run(in: .default))
        RunLoop.main.stop()
        tell("before:", RunLoop.main.run(in: .default))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { RunLoop.main.stop() }
        RunLoop.main.run()
        tell("asleep: stopped")
    }

    /// Another thread is the first to use the main loop.
    static func madeElsewhere() throws {
        let gate = Gate()
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {
            let loop = RunLoop.main
            tell("worker:", here())
            loop.perform {
                tell("block:", here())
                DispatchQueue.main.async { loop.stop() }
            }
            gate.open()
        }
        _ = gate.wait()
        RunLoop.main.run()
        tell("same:", RunLoop.current === RunLoop.main)
    }

    /// The blocks of the main queue are among the measured handlers.
    static func timed() {
        RunLoop.main.measuresHandlers = true
        DispatchQueue.main.async {
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end {}
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        let longest = RunLoop.main.statistics.longestHandler
        tell(longest?.madeAt ?? "none", longest.map { $0.duration >= .milliseconds(5) } ?? false)
    }

    /// A recording of a block of the main queue.
    static func recorded() throws {
        let recorder = try FlightRecorder(detail: .everything)
        DispatchQueue.main.async {
            recorder.mark("the block")
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        for event in recorder.snapshot().threads.flatMap(\.events) {
            switch event.kind {
            case .mark, .handler(.mainQueue): tell("\(event.depth): \(event.place)")
            default: break
            }
        }
    }
}
