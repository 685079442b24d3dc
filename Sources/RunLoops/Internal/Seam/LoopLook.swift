internal import Synchronization

// The state of loops and waits, for the inspector.

/// The part of a loop's state that any thread can read, even while the loop is blocked.
package struct LoopLook: Sendable {
    /// The handler that the loop is calling.
    package struct Call: Hashable, Sendable {
        package let kind: RunLoop.HandlerKind
        package let madeAt: String
        /// A number that distinguishes this call from all other calls that the loop makes.
        package let identity: UInt64
    }

    /// The handler call that is under way; nil if there is none, or if the handler itself is running the loop.
    ///
    /// The call is known only while a watchdog or an inspector watches the loops.
    package let call: Call?
    /// The moment at which the loop stopped waiting; nil if the loop is waiting or not running, or is not watched.
    package let busySince: Moment?
}

/// A thread's wait for other threads.
package struct WaitLook: Sendable {
    /// The loop of the waiting thread.
    package let loop: RunLoop?
    /// The public member that the thread has called.
    package let operation: String
    /// The source location of the call; for `Port.send`, the location at which the port was made.
    package let madeAt: String
    /// The loops that the thread waits for.
    package let targets: [RunLoop]
    /// True if the wait has a deadline, and so ends by itself.
    package let endsByItself: Bool
}

extension RunLoop {
    /// The part of the loop's present state that any thread can read.
    package var look: LoopLook {
        let look = handle.handlers.look()
        return LoopLook(
            call: look.map {
                LoopLook.Call(kind: $0.call.kind, madeAt: $0.madeAt, identity: $0.call.bits)
            },
            busySince: handle.counters.busyTime.since)
    }

    /// The kind and the place of the last handler, other than that of an observer, that the calling thread's loop has called while
    /// the loops recorded their calls; nil if there is none.
    package var lastCall: (kind: HandlerKind, madeAt: String)? {
        coreIfCurrent?.members.handlers.lastCall.map { ($0.kind, $0.origin.description) }
    }

    /// Makes all loops record their calls of handlers and their busy time, until the caller calls ``endLooking()``.
    package static func beginLooking() { LoopRegistry.beginWatching() }

    /// Ends the recording that one call of ``beginLooking()`` has begun.
    package static func endLooking() { LoopRegistry.endWatching() }

    /// Asks the loop, from any thread, for the part of its state that only the loop's own thread can read.
    ///
    /// The loop answers as soon as it serves blocks, in any mode. However often other threads ask while the loop is blocked, only
    /// one block waits in the loop.
    ///
    /// - Parameter answer: Receives the details on the loop's thread, or nil if the loop ends first. If this method is called eight
    ///   more times before the loop answers, `answer` is never called.
    package func askForDetails(_ answer: @escaping @Sendable (LoopDetails?) -> Void) {
        // The oldest question is released after the lock, because destroying what it holds can ask again.
        let (isFirst, released) = objects.questions.withLock { questions in
            questions.append(answer)
            return (questions.count == 1, questions.count > 8 ? questions.removeFirst() : nil)
        }
        withExtendedLifetime(released) {}
        if !isFirst { return }
        let questions = OpenQuestions(to: self)
        performInEveryMode { questions.answer() }
    }

    fileprivate func answerQuestions(_ details: LoopDetails?) {
        for answer in objects.questions.withLock({ exchange(&$0, with: []) }) { answer(details) }
    }

    /// The details of the loop, if it is the calling thread's loop.
    package var detailsHere: LoopDetails? {
        guard var details = coreIfCurrent?.details else { return nil }
        details.inputs += objects.inspectedParts.map { LoopDetails.Input($0, modes: []) }
        return details
    }

    /// The calls in which threads are blocked now because they wait for other threads.
    ///
    /// If no other thread can wait for a blocked thread, the list omits the call of that blocked thread.
    package static var waits: [WaitLook] {
        let loops = LoopRegistry.loops
        return ThreadWait.graph.withLock { $0.all }.map { wait in
            let targets = wait.stillWaitsFor()
            return WaitLook(
                loop: wait.loop, operation: "\(wait.operation)", madeAt: wait.origin.description,
                targets: loops.filter { targets.contains($0.waitTarget) }, endsByItself: wait.endsByItself)
        }
    }
}

/// Ensures that the questions that inspectors have asked one loop are answered exactly once.
///
/// The block that answers the questions on the loop holds this object. If the loop ends first, the loop destroys the block. That
/// destroys this object, too, which then answers the questions with nil.
private final class OpenQuestions: Sendable {
    private let loop: RunLoop
    private let areAnswered = Atomic(false)

    init(to loop: RunLoop) { self.loop = loop }

    func answer() {
        areAnswered.store(true, ordering: .relaxed)
        loop.answerQuestions(loop.detailsHere)
    }

    deinit { if !areAnswered.load(ordering: .relaxed) { loop.answerQuestions(nil) } }
}

extension LoopCore {
    fileprivate var details: LoopDetails {
        LoopDetails(
            mode: members.currentMode?.label, depth: runs.depth,
            commonModes: members.modes.common.map(\.label),
            inputs: members.inputs.flatMap { input in
                let modes = input.membership.modes.map(\.label)
                if let served = input as? ServedInput {
                    return served.parts.map { LoopDetails.Input($0, modes: modes) }
                }
                if let rung = input as? RungInput {
                    return rung.parts.map { LoopDetails.Input($0, modes: modes) }
                }
                // A timer or source that represents another input is omitted, because that input is listed itself.
                guard let (kind, origin) = LoopDetails.Kind.of(input) else { return [] }
                return [LoopDetails.Input(kind: kind, madeAt: origin.description, modes: modes)]
            })
    }
}

extension LoopDetails.Input {
    fileprivate init(_ part: InspectedPart, modes: [String]) {
        self.init(kind: .other(part.kind, part.counts), madeAt: part.madeAt, modes: modes)
    }
}

extension LoopDetails.Kind {
    fileprivate static func of(_ input: any LoopInput) -> (LoopDetails.Kind, SourceLocation)? {
        switch input {
        case let timer as Timer:
            let kind = LoopDetails.Kind.timer(
                date: timer.isValid && timer.date != .never ? timer.date : nil, interval: timer.timeInterval,
                missed: timer.missedFireCount)
            return (kind, timer.origin)
        case let port as PortInput:
            let core = port.core
            let kind = LoopDetails.Kind.port(
                count: core.messageCount, limit: Int(core.queue.limit),
                waitingSenders: core.queue.waitingCount.load(ordering: .relaxed),
                carriesSignals: core.isSignalPort)
            return (kind, core.origin)
        case let source as DescriptorSource: return (.descriptor(source.descriptor), source.origin)
        case let observer as RunLoop.Observer: return (.observer, observer.origin)
        case let manual as any ManuallySignalledInput: return (.manualSource, manual.origin)
        default: return nil
        }
    }
}

extension RunLoop.Mode {
    /// The name of the mode, for people to read.
    ///
    /// The raw value of the default mode is long, because it is the same as in Foundation.
    fileprivate var label: String { self == .default ? "default" : rawValue }
}
