/// A target of waits: an event that only one thread can bring about, and only while that thread is not waiting itself.
package enum WaitTarget: Hashable, Sendable {
    /// A loop serves the waiting thread's request, or ends.
    ///
    /// Only the thread of the loop can do that.
    ///
    /// Named by the identity of the loop's handle, because that is what a port knows of its receiver.
    case loop(UInt)

    /// A thread, by its number, serves the port sets that it has served last.
    ///
    /// Not the sets themselves: another thread can take over a set during the wait.
    case thread(UInt)

    /// The main loop serves the waiting thread's request, or ends.
    ///
    /// Another thread may have made the main loop, before the main thread has asked for it.
    case mainLoop

    /// A call of an observation returns.
    ///
    /// Only the threads that run one can do that.
    ///
    /// Named by the identity of the observation.
    case call(UInt)

    /// Returns the target of a wait until calls of an observation have returned.
    ///
    /// - Parameter observation: The observation, as the thread's records of calls name it.
    /// - Returns: The target.
    package static func call(of observation: AnyObject) -> WaitTarget {
        .call(UInt(bitPattern: ObjectIdentifier(observation)))
    }
}

/// A source of the targets that the calling thread holds.
///
/// A type of its own: a function in an optional is wrapped once more each time it is read behind a lock.
package struct WaitTargetSource: Sendable {
    let targets: @Sendable () -> [WaitTarget]

    /// Makes a source.
    ///
    /// - Parameter targets: Returns the targets of the thread that calls it. It calls no code of the user's.
    package init(_ targets: @escaping @Sendable () -> [WaitTarget]) { self.targets = targets }
}
