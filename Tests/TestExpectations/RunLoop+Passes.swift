public import RunLoops

extension RunLoop {
    /// Makes one pass without sleeping.
    ///
    /// - Parameter mode: The mode.
    public func pass(in mode: Mode = .default) { run(in: mode, until: .distantPast) }

    /// Makes passes until a pass serves no source or port.
    ///
    /// A pass serves at least two messages, and more while it has time.
    ///
    /// - Parameter mode: The mode.
    public func settle(in mode: Mode = .default) {
        while run(in: mode, until: .distantPast, returnAfterSourceHandled: true) == .handledSource {}
    }
}
