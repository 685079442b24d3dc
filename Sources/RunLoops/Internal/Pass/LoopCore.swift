/// The part of a loop that only its own thread touches.
///
/// What it does is spread over files by step: `LoopCore+Pass` is the order, the other extensions are the steps.
final class LoopCore {
    let inbox: Inbox
    let poller: Poller
    let isMain: Bool
    let executors: Executors

    /// The innermost run's mode, or nil between runs.
    var currentMode: RunLoop.Mode?
    /// Whether that mode is one of the common ones.
    var modeIsCommon = false

    /// How many runs are on the stack.
    var depth = 0

    /// What every pass looks at; `LoopCore+State` gives the parts their names.
    let state = ExclusivityUnchecked(State())

    /// Everything that was added, in no order.
    var inputs: [any LoopInput] = []

    let manualSources = ReadyQueue()
    let ports = ReadyQueue()
    /// Timers that came due while a mode ran that they are not in.
    var overdueTimers: [Timer] = []
    var observers = ObserverList()
    var descriptors: [DescriptorSource] = []
    var watchedDescriptors = WatchedDescriptors()
    var watchRetry = WatchRetry()
    /// The mode whose descriptors the kernel watches.
    var watchedMode: RunLoop.Mode?

    /// The main dispatch queue; nil in other loops than the main thread's, and where it is out of reach.
    var mainQueue: MainQueue?

    /// What other modules keep with the loop.
    var companions: [ObjectIdentifier: AnyObject] = [:]

    /// What is called when the thread ends, last one first.
    var endHandlers: [() -> Void] = []

    /// The blocks on the stack that other threads wait for, outermost first.
    var runningWaits: [any RunningWait] = []
    /// How many jobs of tasks are on the stack.
    var jobsOnStack = 0
    /// Given when the thread has let go of the loop, whatever has ended the thread.
    var endNotice: EndNotice?

    /// A stop or a wake-up that came and has not yet taken effect.
    var requests = Inbox.Requests()
    /// The thread is ending: every run finishes, and nothing can be added.
    var hasEnded = false

    /// The clock, as last read in this pass.
    var now = Moment(nanoseconds: 0)
    /// Whether handlers are timed.
    var measuresHandlers = false
    /// Whether they are timed or watched, as was seen when the pass began, the loop woke, or mail came.
    var notesHandlers = false

    init(inbox: Inbox, executors: Executors, isMain: Bool) throws(SystemError) {
        self.inbox = inbox
        self.executors = executors
        self.isMain = isMain
        poller = try Poller(wakeup: inbox.wakeup.descriptor)
    }

    // MARK: - Mail

    /// Sorts what other threads have sent to where it is served.
    @inline(__always)
    func takeMail() {
        racePoint(.mailLooks)
        let word = inbox.mailbox.current
        if word.node == nil && !word.isArmed { return }
        sortMail()
    }

    private func sortMail() {
        var mail = inbox.mailbox.take()
        // What was sent after somebody began to watch is watched, also in a pass that was under way then.
        notesHandlers = inbox.handlers.isWanted
        while let node = mail.popFirst() {
            switch node.kind {
            case .block, .blockInModes, .parcel, .parcelInModes, .job, .preferredJob: blocks.append(node)
            case .signal: becameReady(Signal.takeRetained(node))
            case .control: requests.formUnion(inbox.takeRequests())
            }
        }
    }

    /// Notes that a signalled input is to be served.
    func becameReady(_ signal: Signal) {
        switch signal.input?.step {
        case .manualSources: manualSources.append(signal)
        case .ports: ports.append(signal)
        case nil: break  // It has left the loop since.
        }
    }
}
