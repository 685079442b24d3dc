internal import CThreads
internal import RunLoops
internal import Synchronization

/// One registration of an observer, without the type of what it observes.
///
/// It is called through ``TypedObservation``; what is here is the end of it.
class Observation: @unchecked Sendable {
    // `@unchecked Sendable`: all stored properties are `Sendable`; it is unchecked because the class has a subclass.

    /// The place in the order of all registrations of a center.
    let sequence: UInt64

    /// Whose notifications are observed; nil for anybody's.
    let sender: ObjectIdentifier?

    /// That object, if it was given as such: an identity is worth something only while it lives.
    private let object: WeakReference?

    /// An ``ObservationLife``.
    private let life = Atomic<UInt64>(ObservationLife.active.bits)

    /// Those who wait for the last call to return, and whether it has.
    private let end = Guarded(End())

    private struct End {
        var hasCome = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// What is called on another thread in the end, if that is how it is delivered.
    let target: RedirectedObserver?

    init(sequence: UInt64, object: (any AnyObject & Sendable)?, target: RedirectedObserver?) {
        self.sequence = sequence
        self.target = target
        sender = object.map { ObjectIdentifier($0) }
        self.object = object.map { WeakReference($0) }
    }

    /// Whether notifications of this sender are observed.
    @inline(__always)
    func matches(_ other: ObjectIdentifier?) -> Bool {
        guard let sender else { return true }
        // The weak reference is read only for the right identity: another object may have got it since.
        return sender == other && object?.isAlive ?? false
    }

    var isRemoved: Bool { ObservationLife(bits: life.load(ordering: .acquiring)).isRemoved }

    /// Lets one event happen to the life.
    @inline(__always)
    fileprivate func happen(
        _ event: (inout ObservationLife) -> ObservationLife.Action
    ) -> ObservationLife.Action {
        var seen = life.load(ordering: .relaxed)
        while true {
            var changed = ObservationLife(bits: seen)
            let action = event(&changed)
            // Sequentially consistent, so that a removal that has returned is seen by whoever asks afterwards.
            let (exchanged, original) = life.weakCompareExchange(
                expected: seen, desired: changed.bits, ordering: .sequentiallyConsistent)
            if exchanged { return action }
            seen = original
        }
    }

    /// Ends the observation: no call starts any more.
    ///
    /// Any thread; again is harmless.
    ///
    /// - Returns: Whether this ended it, and not somebody else before.
    final func remove() -> Bool {
        var isFirst = false
        let action = happen { life in
            isFirst = !life.isRemoved
            return life.remove()
        }
        if action == .finish { finish() }
        return isFirst
    }

    /// Calls `waiter` when no call runs any more, which may be at once.
    ///
    /// After ``remove()``.
    final func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        let hasCome = end.withLock { end in
            if !end.hasCome { end.waiters.append(waiter) }
            return end.hasCome
        }
        if hasCome { waiter() }
    }

    /// The observation was removed and its last call has returned.
    fileprivate final func finish() {
        releaseHandler()
        let waiters = end.withLock { end in
            end.hasCome = true
            defer { end.waiters = [] }
            return end.waiters
        }
        for waiter in waiters { waiter() }
    }

    /// Lets go of what the handler holds.
    func releaseHandler() {}

    /// Whether a call of this observation is on the stack of the calling thread.
    final var isRunningHere: Bool {
        // Safe: the frames are on this thread's stack, and each is taken out before it goes.
        var frame = unsafe runloops_thread_delivery()
        while let current = unsafe frame {
            if unsafe current.pointee.observation == Unmanaged.passUnretained(self).toOpaque() { return true }
            unsafe frame = current.pointee.outer
        }
        return false
    }
}

/// One registration, and what is called for it.
class TypedObservation<Payload>: Observation, @unchecked Sendable {
    /// Answers false if there is nobody to call any more.
    ///
    /// `nonisolated(unsafe)`: read between the beginning and the end of a call, and let go of after the last
    /// end: the life keeps these apart.
    nonisolated(unsafe) private var handler: ((Payload) -> Bool)?

    init(
        sequence: UInt64, object: (any AnyObject & Sendable)?, target: RedirectedObserver? = nil,
        handler: @escaping (Payload) -> Bool
    ) {
        unsafe self.handler = handler
        super.init(sequence: sequence, object: object, target: target)
    }

    /// Calls the handler, unless the observation was removed.
    ///
    /// - Returns: False if there is nobody to call any more.
    @inline(__always)
    final func call(_ payload: Payload) -> Bool {
        guard happen({ $0.begin() }) == .call else { return true }
        let isAlive = callHandler(payload)
        if happen({ $0.end() }) == .finish { finish() }
        return isAlive
    }

    private func callHandler(_ payload: Payload) -> Bool {
        var frame = unsafe runloops_delivery(
            observation: Unmanaged.passUnretained(self).toOpaque(), outer: runloops_thread_delivery())
        // Safe: the frame is on this stack, and is taken out before the stack is left.
        return unsafe withUnsafeMutablePointer(to: &frame) { frame in
            unsafe runloops_thread_set_delivery(frame)
            defer { unsafe runloops_thread_set_delivery(frame.pointee.outer) }
            return unsafe handler?(payload) ?? false
        }
    }

    override func releaseHandler() { unsafe handler = nil }
}
