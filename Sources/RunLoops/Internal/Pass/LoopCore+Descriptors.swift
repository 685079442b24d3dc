internal import DequeModule

// What the kernel watches, and what it has found.

extension LoopCore {
    /// Makes the kernel watch the descriptors of the current mode, and only those.
    ///
    /// Between two waits in one mode this is one comparison, unless the kernel has refused some.
    func watchDescriptors() {
        if watchedMode == currentMode { return }
        watchedMode = currentMode
        guard let mode = currentMode else { return }
        watchRetry.beginLook()
        for source in descriptors { source.setWanted(source.membership.contains(mode), in: self) }
        if watchRetry.endLook() { watchedMode = nil }
    }

    /// Calls the handlers of the descriptors that were ready when the step began.
    func serveDescriptors() -> Bool {
        var rest = readyDescriptors.count
        if rest == 0 { return false }
        var handled = false
        while rest > 0, !readyDescriptors.isEmpty, let mode = currentMode {
            rest -= 1
            let source = readyDescriptors.removeFirst()
            if source.membership.contains(mode) {
                source.watch.isReady = false
                if source.serve(in: self) { handled = true }
            } else if source.membership.loop != nil {
                // Ready in the mode of an outer run, or of a run inside a handler of this step: last in the list, where that
                // one finds it.
                readyDescriptors.append(source)
            } else {
                // Removed meanwhile, and no longer in the list, should it be added again.
                source.watch.isReady = false
            }
        }
        return handled
    }
}
