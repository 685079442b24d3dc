extension DescriptorSource {
    /// The kernel's refusal to resume watching a descriptor: none, not yet reported to the source's owner, or reported.
    enum Refusal: Hashable {
        /// The kernel has not refused to watch the descriptor.
        case none
        /// A refusal with this error, which has not yet been reported to the source's owner.
        case untold(SystemError)
        /// A refusal that has been reported to the source's owner.
        case told
    }

    /// Records that the kernel has refused to watch the descriptor again.
    ///
    /// Watching is resumed, for example, after a run in another mode. After a refusal, the loop tries again later. The loop reports
    /// the refusal to the source's owner when it next serves descriptors. It does not report the refusal immediately, because it is
    /// possibly iterating over all sources now.
    func wasRefused(_ error: SystemError, in list: LoopDescriptors) {
        list.wasRefused()
        if watch.refusal != .none { return }
        watch.refusal = .untold(error)
        if watch.isReady { return }
        watch.isReady = true
        list.append(ready: self)
    }

    /// Reports a refusal of the kernel to the source's owner, and records that it was reported.
    ///
    /// If the owner has set no `onWatchRefused` handler, a diagnostic message is written instead.
    func tellRefusal(_ error: SystemError, in loop: LoopMembers) {
        if !loop.admits(self) { return }
        watch.refusal = .told
        guard let watchRefused else {
            DiagnosticQueue.report(
                "RunLoop: \(error) for the \(self), which is in a mode that runs; it is tried again until it succeeds"
            )
            return
        }
        loop.handlers.call(origin, as: .descriptor) { watchRefused(self, error) }
    }
}
