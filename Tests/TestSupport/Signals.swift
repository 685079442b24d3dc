internal import Glibc

/// The actions of signals in this process, and the signal masks of its threads.
public enum Signals {
    /// The action of a signal.
    public enum Action: Hashable, Sendable {
        /// The default action.
        case standard
        /// The signal is ignored.
        case ignored
        /// A handler is called.
        case handler
    }

    /// Returns the current action of a signal.
    ///
    /// - Parameter signal: The number of the signal.
    /// - Returns: The action.
    public static func action(of signal: CInt) -> Action {
        var action = sigaction()
        // Safe: the kernel fills a local variable. Of the two views of the handler, the one that always exists is read.
        unsafe sigaction(signal, nil, &action)
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == 0 ? .standard : handler == 1 ? .ignored : .handler
    }

    /// Makes this process ignore a signal, or restores the default action.
    ///
    /// - Parameters:
    ///   - signal: The number of the signal.
    ///   - isIgnored: True to ignore the signal.
    public static func ignore(_ signal: CInt, _ isIgnored: Bool = true) {
        _ = Glibc.signal(signal, isIgnored ? SIG_IGN : SIG_DFL)
    }

    /// Sets a handler for a signal that does nothing.
    ///
    /// - Parameter signal: The number of the signal.
    public static func handle(_ signal: CInt) { _ = Glibc.signal(signal) { _ in } }

    /// Blocks or unblocks a signal in the calling thread.
    ///
    /// - Parameters:
    ///   - signal: The number of the signal.
    ///   - isBlocked: True to block the signal.
    public static func block(_ signal: CInt, _ isBlocked: Bool = true) {
        var set = sigset_t()
        // Safe: the set is a local variable.
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, signal)
        unsafe pthread_sigmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, &set, nil)
    }

    /// Returns true if the calling thread blocks a signal.
    ///
    /// - Parameter signal: The number of the signal.
    /// - Returns: True if the signal is blocked.
    public static func isBlocked(_ signal: CInt) -> Bool {
        var set = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &set)
        return unsafe sigismember(&set, signal) == 1
    }

    /// Sends a signal to this process.
    ///
    /// - Parameter signal: The number of the signal.
    public static func send(_ signal: CInt) { kill(getpid(), signal) }

    /// Sends a signal to the calling thread only.
    ///
    /// - Parameter signal: The number of the signal.
    public static func sendToThread(_ signal: CInt) {
        // Other processes of the user can have many signals queued.
        while pthread_kill(pthread_self(), signal) == EAGAIN { sched_yield() }
    }

    /// Queues a real-time signal for this process, which is not merged, and retries while the system has no room.
    ///
    /// - Parameter signal: The number of the signal.
    public static func queue(_ signal: CInt) {
        while unsafe sigqueue(getpid(), signal, sigval()) != 0 && errno == EAGAIN { sched_yield() }
    }
}
