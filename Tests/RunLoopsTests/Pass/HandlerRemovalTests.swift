import RunLoops
import TestSupport
import Testing

/// Handlers that remove all inputs of their loop, including their own.
@Suite struct HandlerRemovalTests {
    /// The input whose handler removes all inputs.
    enum Culprit: CaseIterable {
        case block, timer, source, port, bell, descriptor, beforeTimers, beforeSources, beforeWaiting,
            afterWaiting
    }

    // Guarantees: After an input was removed from its last mode on the loop's thread, no handler of the input starts.
    @Test(arguments: Culprit.allCases)
    func `when a handler throws away all inputs of its loop, no other one starts, and the run ends`(
        culprit: Culprit
    ) throws {
        try onLoopThread { loop in
            let alive = Shared()
            let stage = try Stage(loop, culprit, alive)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(stage.callsAfter == 0)
            #expect(stage.hasThrownAway)
            // The objects that the handlers held are destroyed, including those of the handler that was running.
            #expect(alive.count == 0)
            loop.perform {}
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    /// Two inputs of each kind, all of them ready.
    ///
    /// `@unchecked Sendable`: the stage stays on one thread, although some of its handlers must be sendable.
    private final class Stage: @unchecked Sendable {
        private let loop: RunLoop
        private let culprit: Culprit
        private(set) var hasThrownAway = false
        private(set) var callsAfter = 0
        private var timers: [Timer] = []
        private var sources: [ManualSource] = []
        private var ports: [Port<Int>] = []
        private var bells: [Port<Void>] = []
        private var descriptors: [DescriptorSource] = []
        private var observers: [RunLoop.Observer] = []
        private let pipe = ReadablePipe()

        init(_ loop: RunLoop, _ culprit: Culprit, _ alive: Shared) throws {
            self.loop = loop
            self.culprit = culprit
            pipe.fill()
            for _ in 0..<2 { try add(alive) }
            if culprit == .block { loop.perform { [unowned self] in called(.block) } }
        }

        private func add(_ alive: Shared) throws {
            let timer = Timer(timeInterval: .zero, repeats: true) { [unowned self, held = Counted(alive)] _ in
                called(.timer)
                withExtendedLifetime(held) {}
            }
            timers.append(timer)
            loop.add(timer, forMode: .default)
            let source = ManualSource { [unowned self, held = Counted(alive)] in
                called(.source)
                withExtendedLifetime(held) {}
            }
            sources.append(source)
            loop.add(source, forMode: .default)
            source.signal()
            let port = Port<Int>()
            ports.append(port)
            loop.add(port, forMode: .default) { [unowned self, held = Counted(alive)] _ in
                called(.port)
                withExtendedLifetime(held) {}
            }
            try port.send(contentsOf: [1, 2, 3])
            let bell = Port<Void>()
            bells.append(bell)
            loop.add(bell, forMode: .default) { [unowned self, held = Counted(alive)] in
                called(.bell)
                withExtendedLifetime(held) {}
            }
            try bell.send()
            let descriptor = DescriptorSource(pipe.readingEnd, interest: .read) {
                [unowned self, held = Counted(alive)] _, _ in
                called(.descriptor)
                withExtendedLifetime(held) {}
            }
            descriptors.append(descriptor)
            try loop.add(descriptor, forMode: .default)
            let observer = RunLoop.Observer(activities: .all) {
                [unowned self, held = Counted(alive)] _, activity in
                observed(activity)
                withExtendedLifetime(held) {}
            }
            observers.append(observer)
            loop.add(observer, forMode: .default)
        }

        private func observed(_ activity: RunLoop.Activity) {
            switch activity {
            case .beforeTimers: called(.beforeTimers)
            case .beforeSources: called(.beforeSources)
            case .beforeWaiting: called(.beforeWaiting)
            case .afterWaiting: called(.afterWaiting)
            default: if hasThrownAway { callsAfter += 1 }
            }
        }

        private func called(_ caller: Culprit) {
            if hasThrownAway { callsAfter += 1 }
            if caller == culprit && !hasThrownAway { throwAway() }
            // Reduces the work, so that the loop waits.
            if culprit == .beforeWaiting || culprit == .afterWaiting { calmDown(caller) }
        }

        private func calmDown(_ caller: Culprit) {
            if hasThrownAway { return }
            switch caller {
            case .timer: for timer in timers { timer.fireDate = .now + .milliseconds(2) }
            case .descriptor: for source in descriptors { source.invalidate() }
            default: break
            }
        }

        private func throwAway() {
            hasThrownAway = true
            for timer in timers { timer.invalidate() }
            for source in sources { source.invalidate() }
            for port in ports { port.invalidate() }
            for bell in bells { loop.remove(bell, forMode: .default) }
            for source in descriptors { source.invalidate() }
            for observer in observers { observer.invalidate() }
            timers = []
            sources = []
            ports = []
            bells = []
            descriptors = []
            observers = []
        }
    }
}
