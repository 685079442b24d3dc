/// An input that is served because another thread has made it ready.
protocol SignalledInput: LoopInput {
    /// The step in which each pass serves the input; the step of an input never changes.
    var step: SignalledStep { get }

    /// Serves the messages or signals that have arrived, as far as the budget allows.
    ///
    /// Called on the loop's thread, in one of the input's modes. The budget allows at least one message.
    ///
    /// - Parameters:
    ///   - loop: The caller.
    ///   - signal: The input's own signal, which the caller holds, so that the input need not retain it for each message.
    ///   - budget: The messages that the input may still serve.
    /// - Returns: What was served.
    func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served
}

/// The outcome of serving an input.
package struct Served {
    /// True if a handler was called.
    package var calledHandler = false
    /// True if the input has more to serve; the loop then puts the input at the end of the queue.
    package var hasMore = false

    package init(calledHandler: Bool = false, hasMore: Bool = false) {
        self.calledHandler = calledHandler
        self.hasMore = hasMore
    }
}

/// The two steps of a pass that serve signalled inputs.
enum SignalledStep {
    /// The input is served with the manual sources, before the loop decides whether to sleep.
    case manualSources
    /// The input is served with the ports, after the timers.
    case ports
}

/// The input of a manual source.
///
/// An inspector reads the origin of the source through this protocol.
protocol ManuallySignalledInput: SignalledInput {
    /// The source location at which the manual source was made.
    var origin: SourceLocation { get }
}

extension ManuallySignalledInput {
    var unservedParts: [Unserved] { [Unserved("source", madeAt: origin)] }
}
