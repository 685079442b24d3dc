extension DescriptorSource {
    /// The state of a descriptor that the kernel may have refused to watch again.
    enum Refusal: Hashable {
        /// It has not.
        case none
        /// It has, and the source's owner does not know.
        case untold(SystemError)
        /// It has, and the source's owner knows.
        case told
    }

    /// The kernel has refused to watch the descriptor after a run in another mode.
    ///
    /// The loop tries again, and has the owner told when it serves descriptors: not now, because it may be going through all
    /// of them.
    func wasRefused(_ error: SystemError, in list: LoopDescriptors) {
        list.wasRefused()
        if watch.refusal != .none { return }
        watch.refusal = .untold(error)
        if watch.isReady { return }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Tells the source's owner, once for each time.
    func tellRefusal(_ error: SystemError, by handlers: HandlerCaller) {
        watch.refusal = .told
        guard let onWatchRefused else {
            DiagnosticQueue.report(
                "RunLoop: \(error) for the \(self), which is in a mode that runs; it is tried again until it succeeds"
            )
            return
        }
        handlers.call(origin, as: .descriptor) { onWatchRefused(self, error) }
    }
}
