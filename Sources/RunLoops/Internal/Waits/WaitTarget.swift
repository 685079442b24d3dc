/// An event that a thread can wait for, and that only one other thread can cause.
///
/// While that other thread is itself waiting, it cannot cause the event.
package enum WaitTarget: Hashable, Sendable {
    /// A loop serves the request of the waiting thread, or the loop ends.
    ///
    /// Only the loop's thread can cause this event.
    ///
    /// The number is the identity of the loop's handle, because a port identifies its receiver only by that identity.
    case loop(UInt)

    /// The thread that served a port set last serves the set again.
    ///
    /// The number identifies the thread. It does not identify the set, because another thread can take over the set during the
    /// wait.
    case thread(UInt)

    /// The main loop serves the request of the waiting thread, or the main loop ends.
    ///
    /// Only the main thread can cause this event. Another thread can create the main loop and wait for it before the main thread
    /// has used the loop. So the main loop has a case of its own.
    case mainLoop

    /// The handler of a notification observer returns from a call.
    ///
    /// Only a thread that is running this handler can cause this event.
    ///
    /// The number is the identity of the observation, which is the object that represents the observer.
    case call(UInt)

    /// Returns the event for a thread that waits until all calls of an observation have returned.
    ///
    /// - Parameter observation: The object that identifies the observation in a thread's records of calls.
    /// - Returns: The event.
    package static func call(of observation: AnyObject) -> WaitTarget {
        .call(UInt(bitPattern: ObjectIdentifier(observation)))
    }
}

/// The events that only one thread can cause, without memory of its own for the two that a thread holds at most without observers.
///
/// Each wait of a thread makes such a list, and an array would take a tenth of the time of a request.
struct HeldTargets: Equatable, Sendable {
    private var first: WaitTarget?
    private var second: WaitTarget?
    private var others: [WaitTarget] = []

    var isEmpty: Bool { first == nil }

    /// All events, in the order in which they were added.
    var all: [WaitTarget] { [first, second].compactMap { $0 } + others }

    mutating func append(_ target: WaitTarget) {
        if first == nil {
            first = target
        } else if second == nil {
            second = target
        } else {
            others.append(target)
        }
    }

    func contains(_ target: WaitTarget) -> Bool {
        first == target || second == target || others.contains(target)
    }
}

extension HeldTargets: ExpressibleByArrayLiteral {
    init(arrayLiteral targets: WaitTarget...) { for target in targets { append(target) } }
}

/// A function that returns a list of events: those that only the calling thread can cause.
///
/// The function is stored in a struct for the sake of speed. If an optional function is stored directly, Swift wraps it in one more
/// closure each time that it is read under a lock.
package struct WaitTargetSource: Sendable {
    let targets: @Sendable () -> [WaitTarget]

    /// Makes a value that contains a function.
    ///
    /// - Parameter targets: Returns the events that only the calling thread can cause. It calls no code of the user.
    package init(_ targets: @escaping @Sendable () -> [WaitTarget]) { self.targets = targets }
}
