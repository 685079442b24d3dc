internal import Synchronization

/// Something that another thread has handed over to a loop: the end of an object, or the removal of an input from a mode.
///
/// An object is in one stack at most, and only once, so that the link is stored in the object and a hand-over allocates nothing.
package protocol HandOver: AnyObject {
    /// The link to the next hand-over of the same stack or list.
    var link: HandOverLink { get }

    /// Does on the loop's thread what the other thread has asked for.
    func takeEffect()
}

/// The link of a ``HandOver``.
///
/// The thread that pushes the object writes the link; after that, the loop that takes the object.
package struct HandOverLink: ~Copyable, Sendable {
    /// The address of the next object; 0 for none.
    fileprivate let next = Atomic<UInt>(0)

    package init() {}
}

extension HandOver {
    fileprivate var next: UInt {
        get { link.next.load(ordering: .relaxed) }
        set { link.next.store(newValue, ordering: .relaxed) }
    }
}

/// The hand-overs that a loop has not taken yet, newest first.
///
/// The stack holds a reference to each of its objects.
///
/// > Thread safety: ``push(_:)`` and ``isEmpty`` from any thread; ``takeAll()`` and ``close()`` from the thread of the loop.
struct HandOverStack: ~Copyable, Sendable {
    /// The address of the newest object; 0 for none, and 1 after the stack was closed.
    private let newest = Atomic<UInt>(0)

    private static let closed: UInt = 1

    /// True if there is nothing to take.
    var isEmpty: Bool { @inline(__always) get { newest.load(ordering: .relaxed) <= HandOverStack.closed } }

    /// Pushes an object.
    ///
    /// - Returns: False if the stack was closed.
    func push(_ handOver: any HandOver) -> Bool {
        // Safe: the stack owns this reference until the loop takes it over.
        let address = unsafe UInt(bitPattern: Unmanaged<AnyObject>.passRetained(handOver).toOpaque())
        racePoint(.handOverLooks)
        var seen = newest.load(ordering: .acquiring)
        while seen != HandOverStack.closed {
            handOver.next = seen
            racePoint(.handOverPushes)
            let (exchanged, original) = newest.weakCompareExchange(
                expected: seen, desired: address, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if exchanged { return true }
            seen = original
        }
        // Safe: this takes back the reference from above.
        unsafe Unmanaged<AnyObject>.passUnretained(handOver).release()
        return false
    }

    /// Removes and returns all objects, oldest first.
    func takeAll() -> HandOverList {
        racePoint(.handOversAreTaken)
        return HandOverList(newest: newest.exchange(0, ordering: .acquiringAndReleasing))
    }

    /// Closes the stack, which refuses all later pushes, if it holds no object.
    ///
    /// A thread whose push is refused changes the object itself. So nothing that was pushed before may still be under way then.
    ///
    /// - Returns: False if it holds objects, which the loop must take first.
    func close() -> Bool {
        racePoint(.handOversClose)
        let (exchanged, original) = newest.compareExchange(
            expected: 0, desired: HandOverStack.closed, ordering: .acquiringAndReleasing)
        return exchanged || original == HandOverStack.closed
    }
}

/// Hand-overs that a loop has taken and that have not taken effect yet, oldest first.
///
/// > Thread safety: the loop's own thread only.
struct HandOverList {
    /// The address of the oldest object, which is linked to the next; 0 for none.
    private var oldest: UInt = 0

    /// Makes an empty list.
    init() {}

    fileprivate init(newest: UInt) {
        var rest = newest
        while let object = HandOverList.object(at: rest) {
            let older = object.next
            object.next = oldest
            oldest = rest
            rest = older
        }
    }

    var isEmpty: Bool { oldest == 0 }

    /// Removes and returns the oldest object; nil if the list is empty.
    mutating func popFirst() -> (any HandOver)? {
        guard let first = HandOverList.object(at: oldest) else { return nil }
        oldest = first.next
        first.next = 0
        // Safe: this takes over the reference of `push`; `first` holds another one.
        unsafe Unmanaged<AnyObject>.passUnretained(first).release()
        return first
    }

    private static func object(at address: UInt) -> (any HandOver)? {
        guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
        // Safe: the address is that of an object which the list holds.
        let object = unsafe Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
        guard let handOver = object as? any HandOver else {
            preconditionFailure("a stack of hand-overs holds nothing else")
        }
        return handOver
    }
}
