/// An event that a thread can wait for, and that only one other thread can cause, as long as that other thread is not waiting
/// itself.
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
    /// The main loop is a separate target because the main thread holds this target even before it has used its loop. At that time,
    /// another thread can already have created the main loop, and wait for it.
    case mainLoop

    /// A call of an observer of notifications returns.
    ///
    /// Only a thread that is calling this observer can cause that.
    ///
    /// The number is the identity of the observation, which is the object that represents the observer.
    case call(UInt)

    /// Returns the target for a wait that ends when the calls of an observation have returned.
    ///
    /// - Parameter observation: The object that identifies the observation in a thread's records of calls.
    /// - Returns: The target.
    package static func call(of observation: AnyObject) -> WaitTarget {
        .call(UInt(bitPattern: ObjectIdentifier(observation)))
    }
}

/// A function that returns the targets that the calling thread holds: the events that only this thread can cause.
///
/// The function is in a struct because Swift wraps a bare optional function in one more closure each time that the function is read
/// behind a lock.
package struct WaitTargetSource: Sendable {
    let targets: @Sendable () -> [WaitTarget]

    /// Makes a value that contains a function.
    ///
    /// - Parameter targets: Returns the targets of the calling thread. It calls no code of the user.
    package init(_ targets: @escaping @Sendable () -> [WaitTarget]) { self.targets = targets }
}
