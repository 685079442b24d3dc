extension Timer: Removable {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = state.handler.take()
        if !isChild { membership.loop?.remove(self) }
        // The handler is released last, when all state is consistent: an object that it held can call the timer in its `deinit`.
        withExtendedLifetime(released) {}
    }
}
