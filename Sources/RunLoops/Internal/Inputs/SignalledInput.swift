/// An input that is served because another thread has made it ready.
protocol SignalledInput: LoopInput {
    /// The place in a pass at which the input is served, always the same one.
    var step: SignalledStep { get }

    /// Serves the messages or signals that are there, as far as the budget goes.
    ///
    /// The loop's thread, in a mode of the input's.
    func serve(in loop: ReadyInputs, _ budget: inout Budget) -> Served
}

/// The outcome of serving an input.
package struct Served {
    /// True if a handler was called.
    package var calledHandler = false
    /// True if more is there already: then the input is served again in the next pass.
    package var hasMore = false

    package init(calledHandler: Bool = false, hasMore: Bool = false) {
        self.calledHandler = calledHandler
        self.hasMore = hasMore
    }
}

/// The two places of a pass at which signalled inputs are served.
enum SignalledStep {
    /// With the manual sources, before the loop decides whether to sleep.
    case manualSources
    /// With the ports, after the timers.
    case ports
}
