internal import Synchronization

/// A point at which the order of threads matters: just before an atomic operation, or around a call of the kernel.
///
/// In a debug build a test can have itself called at each, and delay a thread there: that finds the orders that a machine
/// left to itself tries once in a million times. In a release build nothing is left of this.
enum Step: UInt8, CaseIterable {
    // Mailbox.
    case mailLooks, pushLooks, pushExchanges, takeLooks, takeExchanges, armLooks, armExchanges
    case disarmLooks, disarmExchanges, mailboxCloses
    // Doorbell.
    case rings, nudgeLooks, nudgeExchanges, bellLooks, bellArms, bellArmsUnlessRung
    case bellDisarmLooks, bellDisarmExchanges
    // LoopHandle and ReadyNode.
    case requestMarks, takesRequests, sendsSignal, writes
    // The wait.
    case spins, polls, sleeps, wakes
    // PortCore.
    case closedLooks, roomLooks, roomMoves, handsOut, waitingLooks, waitingStores, portCloses
    // SlabCache.
    case slabsAreTaken, slabComesBack, nodesAreReleased
    // The end of a loop.
    case ends, hasEnded
}

#if DEBUG
    /// What is called at each step.
    enum StepHook {
        /// The address of a `@convention(c) (UInt8) -> Void`, which is given the step's raw value; 0 for none.
        static let address = Atomic<UInt>(0)
    }
#endif

/// Says that the calling thread is at a step.
@inline(__always)
func step(_ step: Step) {
    #if DEBUG
        let address = StepHook.address.load(ordering: .acquiring)
        if address == 0 { return }
        // Safe: whoever sets it sets it to such a function, which is there as long as the process.
        unsafe unsafeBitCast(address, to: (@convention(c) (UInt8) -> Void).self)(step.rawValue)
    #endif
}
