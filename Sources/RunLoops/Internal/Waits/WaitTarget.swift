/// An event that a thread can wait for, and that only one other thread can cause.
///
/// That other thread cannot cause the event while it waits itself.
package enum WaitTarget: Hashable, Sendable {
    /// A loop serves the waiting thread's request, or ends.
    ///
    /// Only the loop's thread can do that.
    ///
    /// The number is the identity of the loop's handle, because a port identifies its receiver only by that identity.
    case loop(UInt)

    /// The thread that has last served a port set serves the set again.
    ///
    /// The number identifies the thread. The target is the thread instead of its sets, because another thread can take over a set
    /// during the wait.
    case thread(UInt)

    /// The main loop serves the waiting thread's request, or ends.
    ///
    /// Only the main thread can do that, even before it has used its loop: another thread can already have created the main loop,
    /// and wait for it. So the main loop is a separate target.
    case mainLoop

    /// The end of a call of a notification observer.
    ///
    /// Only a thread that is calling this observer can end the call.
    ///
    /// The number is the identity of the observation, which is the object that represents the observer.
    case call(UInt)

    /// Returns the target of a thread that waits until all calls of an observation have returned.
    ///
    /// - Parameter observation: The object that identifies the observation in a thread's records of calls.
    /// - Returns: The target.
    package static func call(of observation: AnyObject) -> WaitTarget {
        .call(UInt(bitPattern: ObjectIdentifier(observation)))
    }
}

/// A function that returns the events that only the calling thread can cause.
///
/// The function is stored in a struct for the sake of speed. If an optional function is stored directly, Swift wraps it in one more
/// closure each time that it is read under a lock.
package struct WaitTargetSource: Sendable {
    let targets: @Sendable () -> [WaitTarget]

    /// Makes a value that contains a function.
    ///
    /// - Parameter targets: Returns the targets of the calling thread. It calls no code of the user.
    package init(_ targets: @escaping @Sendable () -> [WaitTarget]) { self.targets = targets }
}
