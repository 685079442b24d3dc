internal import Glibc

/// The actions of signals in this process, and the masks of its threads.
public enum Signals {
    /// The action of a signal.
    public enum Action: Hashable, Sendable {
        /// The system's default.
        case standard
        /// Nothing.
        case ignored
        /// It calls something.
        case handler
    }

    /// The action of a signal now.
    ///
    /// - Parameter signal: Its number.
    /// - Returns: The action.
    public static func action(of signal: CInt) -> Action {
        var action = sigaction()
        // Safe: the kernel fills our own value; of the two views of the handler the one that is always there is read.
        unsafe sigaction(signal, nil, &action)
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler == 0 ? .standard : handler == 1 ? .ignored : .handler
    }

    /// Makes this process ignore a signal, or not.
    ///
    /// - Parameters:
    ///   - signal: Its number.
    ///   - isIgnored: True to ignore it.
    public static func ignore(_ signal: CInt, _ isIgnored: Bool = true) {
        _ = Glibc.signal(signal, isIgnored ? SIG_IGN : SIG_DFL)
    }

    /// Has a signal call a handler that does nothing.
    ///
    /// - Parameter signal: Its number.
    public static func handle(_ signal: CInt) { _ = Glibc.signal(signal) { _ in } }

    /// Blocks a signal in the calling thread, or accepts it again.
    ///
    /// - Parameters:
    ///   - signal: Its number.
    ///   - isBlocked: True to block it.
    public static func block(_ signal: CInt, _ isBlocked: Bool = true) {
        var set = sigset_t()
        // Safe: the set is our own.
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, signal)
        unsafe pthread_sigmask(isBlocked ? SIG_BLOCK : SIG_UNBLOCK, &set, nil)
    }

    /// True if the calling thread blocks a signal.
    ///
    /// - Parameter signal: Its number.
    /// - Returns: True if it does.
    public static func isBlocked(_ signal: CInt) -> Bool {
        var set = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &set)
        return unsafe sigismember(&set, signal) == 1
    }

    /// Sends a signal to this process.
    ///
    /// - Parameter signal: Its number.
    public static func send(_ signal: CInt) { kill(getpid(), signal) }

    /// Sends a signal to the calling thread alone.
    ///
    /// - Parameter signal: Its number.
    public static func sendToThread(_ signal: CInt) {
        // The user may have many under way in other processes.
        while pthread_kill(pthread_self(), signal) == EAGAIN { sched_yield() }
    }

    /// Sends a real-time signal to this process, of which none is merged; again while the system has no room.
    ///
    /// - Parameter signal: Its number.
    public static func queue(_ signal: CInt) {
        while unsafe sigqueue(getpid(), signal, sigval()) != 0 && errno == EAGAIN { sched_yield() }
    }
}
