/// A loop in which many timers wait, each for a date of its own that does not come.
protocol TimerHolder: AnyObject, Sendable {
    /// The loop's thread.
    var number: ThreadNumber { get }

    /// Does something on the loop's thread, while the loop does nothing else, and waits for its end.
    func onThread(_ job: @escaping @Sendable () -> Void)

    // The others are called on the thread.

    /// Adds all those that wait.
    func fill()

    /// So many times adds a timer, and cancels it.
    ///
    /// - Parameters:
    ///   - count: How many times.
    ///   - scatter: Among which of those that wait it would be due.
    func addAndCancel(_ count: Int, _ scatter: inout Scatter)

    /// So many times cancels one that waits, and adds another.
    ///
    /// - Parameters:
    ///   - count: How many times.
    ///   - scatter: Which is cancelled, and then among which the other would be due.
    func replace(_ count: Int, _ scatter: inout Scatter)

    /// Adds as many timers that are due now as others, cancels the others, and lets the loop run.
    ///
    /// - Parameter count: How many are not cancelled.
    /// - Throws: If more or fewer fire, or if none does for seconds.
    func fireSome(_ count: Int) throws(Miscount)

    /// Makes all that wait due now, and lets the loop run.
    ///
    /// - Throws: If not every one fires, or something else does.
    func fireAll() throws(Miscount)
}

extension TimerHolder {
    func fireAll() throws(Miscount) {}
}

/// A holder that keeps its timers in an array, by when they are due.
protocol ListedTimerHolder: TimerHolder {
    associatedtype Held

    /// Those that wait. The loop's thread only.
    var timers: [Held] { get set }
    /// How many will wait.
    var pending: Int { get }

    /// Begins to count the dates, far from now.
    func begin()

    /// Adds a timer that is due at a place among those that wait.
    func add(at index: Int) -> Held

    func cancel(_ timer: Held)
}

extension ListedTimerHolder {
    func fill() {
        begin()
        for index in 0..<pending { timers.append(add(at: index)) }
    }

    func addAndCancel(_ count: Int, _ scatter: inout Scatter) {
        for _ in 0..<count { cancel(add(at: scatter.next())) }
    }

    func replace(_ count: Int, _ scatter: inout Scatter) {
        for _ in 0..<count {
            let index = scatter.next()
            cancel(timers[index])
            timers[index] = add(at: scatter.next())
        }
    }
}

/// The loops whose timers are compared.
///
/// Dispatch is not among them: there, another thread does what is asked for, and it does it later.
enum TimerSubject: String, CaseIterable {
    case own = "RunLoops Timer"
    case foundation = "Foundation Timer"
    case nio = "SwiftNIO scheduleTask"

    /// Ours or theirs.
    var role: Chart.Role { self == .own ? .ours : .peer }

    /// Makes a loop in which so many will wait.
    func make(pending: Int) -> any TimerHolder {
        switch self {
        case .own: LoopTimerHolder(pending: pending)
        case .foundation: FoundationTimerHolder(pending: pending)
        case .nio: NIOTimerHolder(pending: pending)
        }
    }
}
