extension RunLoop {
    /// Makes a mode common.
    ///
    /// The mode gets all inputs that were added to ``Mode/common``, and all inputs that are added to it later. A common mode stays
    /// common.
    ///
    /// - Parameter mode: The mode. If it is common already, the call does nothing.
    /// - Complexity: O(*n*) for *n* inputs of the loop.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addCommonMode(_ mode: Mode) {
        let core = core("RunLoop.addCommonMode", "perform a block on the loop and add the mode there")
        if mode == .common {
            misuse("RunLoop.addCommonMode: .common is the set itself; name a mode to join it")
        }
        core.addCommonMode(mode)
    }
}
