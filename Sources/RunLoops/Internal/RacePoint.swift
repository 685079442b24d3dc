internal import Synchronization

/// A point at which the order of threads matters: just before an atomic operation, or around a system call.
///
/// In a debug build, a test can set a hook. The hook is called at each point, and delays threads there. This produces orders of
/// events that an undisturbed machine produces once in a million times. A release build contains no race points.
enum RacePoint: UInt8, CaseIterable {
    // Mailbox.
    case mailLooks, pushLooks, pushExchanges, takeLooks, takeExchanges, armLooks, armExchanges
    case disarmLooks, disarmExchanges, mailboxCloses
    // Doorbell.
    case rings, nudgeLooks, nudgeExchanges, bellLooks, bellArms, bellArmsUnlessRung
    case bellDisarmLooks, bellDisarmExchanges
    // LoopHandle and ReadyNode.
    case requestMarks, takesRequests, sendsSignal, writes
    // HandOverStack and InputEnd.
    case handOverLooks, handOverPushes, handOversAreTaken, handOversClose, endJoins, endMarks
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
    /// The hook that is called at each race point.
    enum RacePointHook {
        /// The address of a `@convention(c) (UInt8) -> Void`, which is called with the point's raw value; 0 for no hook.
        static let address = Atomic<UInt>(0)
    }
#endif

/// Calls the hook, if a test has set one, because the calling thread is at a race point.
@inline(__always)
func racePoint(_ point: RacePoint) {
    #if DEBUG
        let address = RacePointHook.address.load(ordering: .acquiring)
        if address == 0 { return }
        // Safe: a test stores the address of such a function, which exists as long as the process.
        unsafe unsafeBitCast(address, to: (@convention(c) (UInt8) -> Void).self)(point.rawValue)
    #endif
}
