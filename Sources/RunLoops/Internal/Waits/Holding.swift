/// What other threads can wait for, and only one thread can give them while it does not wait itself.
package enum Holding: Hashable, Sendable {
    /// That a loop serves them, or ends: its thread's to give.
    ///
    /// Named by the identity of the loop's handle: what a port has of its receiver.
    case loop(UInt)

    /// That a thread serves the port sets that are its to serve, by the thread's number.
    ///
    /// Not the sets themselves: another thread can take a set over while this one waits.
    case thread(UInt)

    /// The same of the main thread, whose loop others may have made while the thread itself has not asked for it yet.
    case mainLoop

    /// That a call of an observation returns: given by the threads that run one.
    ///
    /// Named by the identity of the observation.
    case call(UInt)

    /// That a call of an observation returns.
    ///
    /// - Parameter observation: The observation, as the records of the calls of a thread name it.
    /// - Returns: What can be waited for.
    package static func call(of observation: AnyObject) -> Holding {
        .call(UInt(bitPattern: ObjectIdentifier(observation)))
    }
}

/// Tells what the calling thread holds.
///
/// A type of its own: a function in an optional is wrapped once more each time it is looked at behind a lock.
package struct HoldingSource: Sendable {
    let holdings: @Sendable () -> [Holding]

    /// Makes a source.
    ///
    /// - Parameter holdings: Answers for the thread that calls it; calls nothing of the user's.
    package init(_ holdings: @escaping @Sendable () -> [Holding]) { self.holdings = holdings }
}
