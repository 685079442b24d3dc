extension DescriptorSource {
    /// Whether libevent watches a descriptor.
    enum Watching {
        case off, on
        /// The kernel has refused, with this error, which has not yet been reported to the source's owner.
        case refused(SystemError)
        case refusedAndTold
    }

    /// Records that the kernel has refused to watch the descriptor again.
    ///
    /// Watching is resumed, for example, after a run in another mode. After a refusal, the loop tries again later. The loop reports
    /// the refusal to the source's owner when it next serves descriptors. It does not report the refusal immediately, because it is
    /// possibly iterating over all sources now.
    func wasRefused(_ error: SystemError, in list: LoopDescriptors) {
        list.wasRefused()
        switch watch.watching {
        case .refused, .refusedAndTold: return
        case .off, .on: watch.watching = .refused(error)
        }
        if watch.isReady { return }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Reports a refusal of the kernel to the source's owner, and records that it was reported.
    ///
    /// If the owner has set no `onWatchRefused` handler, a diagnostic message is written instead.
    func tellRefusal(_ error: SystemError, in loop: LoopMembers) {
        if !loop.admits(self) { return }
        watch.watching = .refusedAndTold
        guard let watchRefused else {
            DiagnosticQueue.report(
                "RunLoop: \(error) for the \(self), which is in a mode that runs; it is tried again until it succeeds"
            )
            return
        }
        loop.handlers.call(origin, as: .descriptor) { watchRefused(self, error) }
    }
}
