#if NIO
    internal import DequeModule
    internal import NIOCore
    internal import RunLoops

    /// The part of an event loop that belongs to the thread of its run loop.
    ///
    /// Everything of an event loop takes turns: its channels, and its tasks. The run loop serves the turns in the step of the ports,
    /// within the budget of that step.
    ///
    /// The run loop holds this object until the event loop has ended.
    ///
    /// > Thread safety: the loop's thread only.
    final class EventLoopCore: RungServer {
        let runLoop: RunLoop
        let modes: [RunLoop.Mode]
        let origin: SourceLocation
        private let input: RungInput
        /// Everything that has work, in the order of the turns.
        private var turns = Deque<any EventLoopTurn>()
        /// True while a turn is on the stack.
        private var isServing = false
        /// The tasks; nil only inside `init`.
        private var ownTasks: TaskTurn?
        private(set) var channels: [ObjectIdentifier: any LoopChannel] = [:]
        var phase = Phase.open
        private var endHandler: RunLoop.EndHandler?

        /// The life of an event loop.
        enum Phase {
            case open
            /// The event loop accepts no more channels, and ends when the last one is closed; then it calls the functions.
            case closing([() -> Void])
            /// The last tasks run.
            case ending
            case ended
        }

        init(_ runLoop: RunLoop, _ modes: [RunLoop.Mode], _ inbox: TaskInbox, _ origin: SourceLocation) {
            self.runLoop = runLoop
            self.modes = modes
            self.origin = origin
            input = RungInput(in: runLoop)
            let tasks = TaskTurn(self, inbox)
            ownTasks = tasks
            for mode in modes { input.join(mode, server: self) }
            tasks.join(runLoop, modes)
            endHandler = runLoop.addEndHandler { [self] in loopEnds() }
            if runLoop.hasEnded { loopEnds() }
        }

        var tasks: TaskTurn {
            guard let ownTasks else { preconditionFailure("an event loop has tasks") }
            return ownTasks
        }

        /// The bell with which other threads make the event loop look into its inbox.
        var bell: RungInput.Bell { input.bell }

        // MARK: - Turns

        /// Queues something for its turn.
        func enqueue(_ turn: any EventLoopTurn) {
            if turn.isQueued { return }
            turn.isQueued = true
            turns.append(turn)
            if !isServing { input.becameReady() }
        }

        func answerRing() { enqueue(tasks) }

        func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
            // A handler has run the loop in a mode of this event loop. NIO's handlers do not expect to be entered again, so everything
            // waits until that run has returned.
            if isServing { return Served() }
            isServing = true
            var served = Served()
            var rest = turns.count
            while rest > 0, !budget.isSpent, let turn = turns.popFirst() {
                rest -= 1
                turn.isQueued = false
                var outcome = TurnOutcome.finished
                input.callHandler(origin) { outcome = turn.takeTurn(&budget) }
                switch outcome {
                case .finished: served.calledHandler = true
                case .unfinished:
                    served.calledHandler = true
                    enqueue(turn)
                case .refused:
                    if turn.isQueued { break }
                    turn.isQueued = true
                    turns.prepend(turn)
                }
            }
            isServing = false
            served.hasMore = !turns.isEmpty
            return served
        }

        func didLeaveLoop() { turns = [] }

        // MARK: - Channels

        /// Adds a channel, which the end of the event loop closes.
        ///
        /// - Throws: `EventLoopError.shutdown` if the event loop accepts no more channels.
        func register(_ channel: any LoopChannel) throws(EventLoopError) {
            guard case .open = phase else { throw .shutdown }
            channels[ObjectIdentifier(channel)] = channel
        }

        func deregister(_ channel: any LoopChannel) {
            let known = channels.removeValue(forKey: ObjectIdentifier(channel))
            if known != nil && channels.isEmpty { lastChannelClosed() }
        }

        // MARK: - The end

        /// Stops to serve, and forgets the end of the run loop.
        func leaveLoop() {
            endHandler?.cancel()
            endHandler = nil
            input.leave()
        }

        /// The description of the event loop, for an inspector.
        var parts: [InspectedPart] {
            let counts = tasks.counts
            return [
                InspectedPart(
                    "NIO event loop", madeAt: origin,
                    [
                        .init("channels", channels.count), .init("ready", turns.count),
                        .init("tasks", counts.waiting), .init("scheduled tasks", counts.scheduled),
                    ])
            ]
        }
    }

    /// A channel of an event loop, which the end of the event loop closes.
    protocol LoopChannel: AnyObject {
        /// Closes the channel through its pipeline, so that its handlers can say good-bye.
        func closeGently()
        /// Closes the channel at once.
        func closeNow(_ error: any Error)
    }
#endif
