public import RunLoops

extension RunLoop {
    /// Makes one pass without sleeping.
    ///
    /// - Parameter mode: The mode.
    public func pass(in mode: Mode = .default) { run(in: mode, until: .distantPast) }

    /// Makes passes until one finds no source or port to serve.
    ///
    /// One pass serves two messages for sure, and more only as long as its time lasts.
    ///
    /// - Parameter mode: The mode.
    public func settle(in mode: Mode = .default) {
        while run(in: mode, until: .distantPast, returnAfterSourceHandled: true) == .handledSource {}
    }
}
