/// A value that is decided once, and the thread or task that waits for it.
///
/// Any number of threads can try to decide the value, and the first thread succeeds. A thread can also claim the decision first,
/// and decide the value later. From the claim on, no other thread can decide the value.
///
/// Only the value depends on its type. These functions are inlinable, so that the code of a user's type needs no metadata; everything
/// else is in ``Decision``, also the memory of the value: the deinitializer of a property of the value's type would look that type
/// up for each value.
///
/// > Thread safety: any thread. One thread or task at a time waits for the value, and takes it once.
///
/// `@unchecked Sendable`: the thread that has the claim writes the value, and it is read after the decision has been published.
@usableFromInline
package final class OneShot<Value: Sendable>: Decision, @unchecked Sendable {
    @inlinable
    package override init() {}

    deinit { if holdsValue { _ = moveValue() } }

    /// Decides the value, unless it is decided or the decision is claimed.
    ///
    /// If another thread decides at the same moment, it has perhaps not stored its value yet; a wait returns when it has.
    ///
    /// - Returns: False if another thread has decided the value or claimed the decision.
    @inlinable
    @discardableResult
    package func decide(_ value: Value) -> Bool {
        if !claim() { return false }
        settle(value)
        return true
    }

    /// Decides the value, on behalf of the thread that has claimed the decision.
    ///
    /// The caller must have called ``Decision/claim()``, and calls this once.
    @inlinable
    package func settle(_ value: Value) {
        store(value)
        publish()
    }

    /// Stores the value, on behalf of the thread that has claimed the decision, which then publishes it.
    @inlinable
    func store(_ value: Value) {
        if OneShot.isInline {
            // Safe: the memory is large enough, is aligned, and holds no value yet, and only the thread with the claim writes it.
            unsafe withMemory { _ = unsafe $0.initializeMemory(as: Value.self, to: value) }
        } else {
            let box = UnsafeMutablePointer<Value>.allocate(capacity: 1)
            unsafe box.initialize(to: value)
            // Safe: an address is smaller than the memory.
            unsafe withMemory { unsafe $0.storeBytes(of: box, as: UnsafeMutablePointer<Value>.self) }
        }
    }

    /// Suspends the calling task until the value is decided, and returns the value.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the value becomes `timedOut`.
    ///   - timedOut: The value for the case that the deadline passes before a thread has decided the value or claimed the decision.
    ///   - cancelled: The value for the case that the task is cancelled before a thread has decided the value or claimed the
    ///     decision.
    ///   - isolation: The isolation of the caller.
    ///   - begin: A function that starts the work that decides the value. It is called once, after the task has begun to wait, or
    ///     not at all if the task was cancelled before that. If `begin` decides the value, that value is returned even if the
    ///     deadline has passed.
    /// - Returns: The value.
    @inlinable
    package func value(
        before deadline: Moment, timedOut: Value, cancelled: Value,
        isolation: isolated (any Actor)? = #isolation, _ begin: () -> Void
    ) async -> Value {
        await suspend(
            before: deadline, isolation: isolation, timeOut: { self.decide(timedOut) },
            cancel: { self.decide(cancelled) }, begin)
        return take()
    }

    /// Removes and returns the decided value; the waiting thread or task calls this once.
    @inlinable
    package func take() -> Value {
        markTaken()
        return moveValue()
    }

    /// True if a value is stored in the object itself.
    @inlinable
    static var isInline: Bool {
        MemoryLayout<Value>.size <= Decision.capacity && MemoryLayout<Value>.alignment <= 8
    }

    /// Moves the value out of its memory; it is called once after `settle`.
    @inlinable
    func moveValue() -> Value {
        // Safe: `settle` has stored a value of this type, or the address of one.
        if OneShot.isInline {
            return unsafe withMemory { unsafe $0.assumingMemoryBound(to: Value.self).move() }
        }
        let box = unsafe withMemory { unsafe $0.load(as: UnsafeMutablePointer<Value>.self) }
        defer { unsafe box.deallocate() }
        return unsafe box.move()
    }
}
