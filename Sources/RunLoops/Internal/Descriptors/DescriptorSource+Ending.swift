internal import Glibc

extension DescriptorSource: Removable {
    func leave(_ loop: LoopMembers, _ mode: Mode) {
        if let list = watch.list, list.members === loop { list.remove(self, from: mode) }
    }

    func leaveForAnotherThread(_ loop: LoopMembers, _ mode: Mode) {
        watch.isRemovedElsewhere = true
        leave(loop, mode)
        watch.isRemovedElsewhere = false
    }

    package func giveBack(inForkedChild isChild: Bool) {
        let released = (handler, watchRefused, onInvalidation)
        handler = nil
        watchRefused = nil
        onInvalidation = nil
        // In a forked child, leaving the loop would change the epoll set of the parent.
        if !isChild { membership.loop?.remove(self) }
        owned = nil
        if !isChild { released.2?() }
        // Released last, when all state is consistent, because destroying an object that the handler holds can call into this
        // source.
        withExtendedLifetime(released) {}
    }

    /// Returns true if the source's descriptor still refers to the same file as when the source joined the loop.
    ///
    /// If the descriptor was closed, this ends the program, unless another thread has ended or removed the source before.
    func holdsDescriptor(in list: LoopDescriptors) -> Bool {
        if list.stillHolds(descriptor) { return true }
        descriptorWasClosed()
        return false
    }

    /// Ends the program because the source's descriptor was closed, unless another thread has ended or removed the source.
    ///
    /// In that case the owner of the descriptor may have closed it already, and the loop gives the source back soon.
    func descriptorWasClosed() { if end.isUntouched { endForClosedDescriptor() } }

    /// Ends the program because the source's descriptor was closed, or now refers to another file.
    func endForClosedDescriptor() -> Never {
        misuse(
            "RunLoop: the descriptor of the \(self) was closed; invalidate the source first, and close the descriptor then"
        )
    }
}
