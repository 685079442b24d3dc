internal import Synchronization

/// The end of an object that belongs to a loop, which any thread can bring about.
///
/// The object belongs to the loop that it has joined last, even after it has left that loop. On the thread of that loop, an end
/// takes effect at once. On another thread, it is only marked: no call of the object's handlers begins from then on, because the
/// loop looks at the mark before each call. The object is then handed over to the loop, which gives back everything in its next
/// pass or, if it ends first, at its end. If the object has never joined a loop, or that loop has ended, the end takes effect on
/// the calling thread.
///
/// The mark and the address of the loop's handle are one word. So an end and a joining have an order: if the end comes first, the
/// object does not join, and the handle that the ending thread has read is never replaced, and so exists until the object is
/// destroyed.
package struct InputEnd: ~Copyable, Sendable {
    /// The address of the loop's handle, of which the word owns a reference, and the marks in the lowest bits.
    private let word = Atomic<UInt>(0)

    package let link = HandOverLink()

    /// No call of a handler begins.
    private static let ended: UInt = 1
    /// A thread has begun to give back what the object holds; no other thread does so.
    private static let givenBack: UInt = 2
    /// Another thread than the loop's has ended the object.
    private static let handedOver: UInt = 4
    /// Another thread has handed over a removal of the object from a mode; the mark can outlive the removal.
    private static let removed: UInt = 8
    private static let marks: UInt = 15

    package init() {}

    deinit {
        guard let handle = InputEnd.handle(of: word.load(ordering: .acquiring)) else { return }
        // Safe: this is the reference of `join`.
        unsafe Unmanaged.passUnretained(handle).release()
    }

    /// True after the end.
    package var hasEnded: Bool {
        @inline(__always) get { word.load(ordering: .acquiring) & InputEnd.ended != 0 }
    }

    /// True if a handler may be called; false if the loop must first look at what other threads have handed over.
    package var isUntouched: Bool {
        @inline(__always) get { word.load(ordering: .acquiring) & (InputEnd.ended | InputEnd.removed) == 0 }
    }

    /// True if another thread than the loop's has ended the object.
    var wasHandedOver: Bool { word.load(ordering: .acquiring) & InputEnd.handedOver != 0 }

    // MARK: - The loop's side

    /// Records that the object belongs to a loop from now on; called by that loop, before the object joins it.
    ///
    /// - Returns: False if the object has ended, and must not join.
    func join(_ handle: LoopHandle) -> Bool {
        guard let before = replaceHandle(with: handle) else { return false }
        if let old = InputEnd.handle(of: before) {
            // Safe: no thread reads the old handle through the word any more, because the object has not ended, and because each
            // thread in `foreignHandle` has retained it.
            InputEnd.moves.withLock { _ in }
            unsafe Unmanaged.passUnretained(old).release()
        }
        return true
    }

    /// Stores the handle of another loop.
    ///
    /// - Returns: The word of the handle before, whose reference the caller releases; 0 for none. Nil if the object has ended.
    private func replaceHandle(with handle: LoopHandle) -> UInt? {
        let address = InputEnd.address(of: handle)
        var seen = word.load(ordering: .acquiring)
        while seen & InputEnd.ended == 0 {
            let before = seen & ~InputEnd.marks
            if before == address { return 0 }
            racePoint(.endJoins)
            let (exchanged, original) = word.compareExchange(
                expected: seen, desired: address | seen & InputEnd.marks, ordering: .acquiringAndReleasing)
            if exchanged {
                // Safe: the word owns this reference.
                _ = unsafe Unmanaged.passRetained(handle)
                return before
            }
            seen = original
        }
        return nil
    }

    /// Marks the end on the thread of the loop.
    ///
    /// - Returns: False if a thread has begun to give back already.
    package func beginGivingBack() -> Bool {
        let marks = InputEnd.ended | InputEnd.givenBack
        return word.bitwiseOr(marks, ordering: .acquiringAndReleasing).oldValue & InputEnd.givenBack == 0
    }

    /// Marks on the thread of the loop that the handler is called for the last time.
    ///
    /// - Returns: False if the object has ended, and its handler must not be called.
    func beginLastCall() -> Bool {
        let marks = InputEnd.ended | InputEnd.givenBack
        return word.bitwiseOr(marks, ordering: .acquiringAndReleasing).oldValue & marks == 0
    }

    /// Clears the mark of a removal; to be called before the loop takes the hand-overs.
    ///
    /// A removal is handed over before it is marked. So if the mark is found clear again, each removal that was marked before has
    /// been taken.
    func clearRemovals() { _ = word.bitwiseAnd(~InputEnd.removed, ordering: .acquiringAndReleasing) }

    // MARK: - Any thread

    /// Marks that a removal was handed over.
    func markRemoval() { _ = word.bitwiseOr(InputEnd.removed, ordering: .acquiringAndReleasing) }

    /// The place at which an end takes effect.
    package enum Place {
        /// On the calling thread, now.
        case here
        /// On the thread of the loop, later; or it has already taken effect.
        case elsewhere
        /// In a forked child, which only releases its own memory and descriptors.
        case forkedChild
    }

    /// Marks the end, and hands the object over to its loop if the calling thread is another one.
    package func begin(of object: any HandOver) -> Place {
        let isChild = Fork.isChild
        let own = LoopHandle.ofThread.map { InputEnd.address(of: $0) }
        var seen = word.load(ordering: .acquiring)
        while true {
            let address = seen & ~InputEnd.marks
            let isHere = !isChild && (address == 0 || address == own)
            if seen & (isHere ? InputEnd.givenBack : InputEnd.ended) != 0 { return .elsewhere }
            let added = isHere || isChild ? InputEnd.givenBack : InputEnd.handedOver
            racePoint(.endMarks)
            let (exchanged, original) = word.compareExchange(
                expected: seen, desired: seen | InputEnd.ended | added, ordering: .acquiringAndReleasing)
            if !exchanged {
                seen = original
                continue
            }
            if isChild { return .forkedChild }
            if isHere { return .here }
            guard let handle = InputEnd.handle(of: address) else { preconditionFailure("it is not here") }
            if handle.handOver(object) { return .elsewhere }
            // The loop has ended. The object was not in it any more, or the loop has given it back.
            return beginGivingBack() ? .here : .elsewhere
        }
    }

    /// Hands a call over to the loop of the object, if the calling thread is another one.
    ///
    /// A call that was handed over is also made after the end of the object.
    ///
    /// - Returns: False if the caller makes the call: it is on the thread of the loop, the object has never joined a loop, or the
    ///   loop has ended.
    func handOver(_ call: @escaping () -> Void) -> Bool {
        guard let handle = foreignHandle else { return false }
        return handle.handOver(HandedOverCall(call))
    }

    /// Hands a call over to the loop of the object, if that is neither the calling thread's loop nor the other one.
    ///
    /// - Returns: False if nothing was handed over.
    func handOver(before other: LoopHandle, _ call: @escaping () -> Void) -> Bool {
        guard let handle = foreignHandle, handle !== other else { return false }
        return handle.handOver(HandedOverCall(call))
    }

    /// Makes the object belong to a loop, and hands over to that loop the call with which the object joins it.
    ///
    /// Both are one step for the threads that look for the object's loop. So what they hand over for the object comes after the
    /// joining. If the object has ended, this does nothing.
    ///
    /// Called on the thread of the loop that the object belonged to, or if it belonged to no loop.
    func move(to handle: LoopHandle, _ call: @escaping () -> Void) {
        let old = InputEnd.moves.withLock { _ -> UInt? in
            guard let old = replaceHandle(with: handle) else { return nil }
            _ = handle.handOvers.push(HandedOverCall(call))
            return old
        }
        guard let old else { return }
        // Safe: no thread reads the old handle through the word any more; see `join`.
        if let handle = InputEnd.handle(of: old) { unsafe Unmanaged.passUnretained(handle).release() }
        handle.request(.handOvers)
    }

    /// The handle of the object's loop; nil if that loop is the calling thread's, or if there is no loop.
    private var foreignHandle: LoopHandle? {
        let own = LoopHandle.ofThread.map { InputEnd.address(of: $0) }
        // A joining replaces the handle first, and passes the lock before it releases the old one.
        return InputEnd.moves.withLock { _ in
            let address = word.load(ordering: .acquiring) & ~InputEnd.marks
            return address == own ? nil : InputEnd.handle(of: address)
        }
    }

    /// The lock under which a thread looks for an object's loop, and under which an object moves to another one.
    ///
    /// Objects seldom move, so all objects share the lock.
    private static let moves = Guarded(())

    // MARK: - The handle

    private static func address(of handle: LoopHandle) -> UInt {
        unsafe UInt(bitPattern: Unmanaged.passUnretained(handle).toOpaque())
    }

    private static func handle(of word: UInt) -> LoopHandle? {
        guard let address = unsafe UnsafeRawPointer(bitPattern: word & ~marks) else { return nil }
        // Safe: the word owns a reference; `join` and `begin` say why it is not released meanwhile.
        return unsafe Unmanaged<LoopHandle>.fromOpaque(address).takeUnretainedValue()
    }
}

/// An object that belongs to a loop and that any thread can end.
package protocol EndedAnywhere: HandOver {
    var end: InputEnd { get }

    /// Leaves the loop, and releases the handlers and everything else that the object holds.
    ///
    /// This is called once.
    ///
    /// - Parameter isChild: True in a forked child. The object then releases only memory and descriptors, and neither leaves its
    ///   loop nor calls a handler.
    func giveBack(inForkedChild isChild: Bool)
}

extension EndedAnywhere {
    package var link: HandOverLink {
        @inline(__always) _read { yield end.link }
    }

    /// Ends the object, on any thread.
    package func endAnywhere() {
        switch end.begin(of: self) {
        case .here: giveBack(inForkedChild: false)
        case .elsewhere: break
        case .forkedChild: giveBack(inForkedChild: true)
        }
    }

    /// Changes the object as only the thread of its loop may.
    ///
    /// On that thread, or if the object is in no loop, this calls the closure now. On another thread, the loop calls it, in the
    /// order of such calls; a removal and an end that the same thread hands over afterwards take effect after it. If the object has
    /// ended, this does nothing.
    ///
    /// - Parameter change: The change, which calls no handler.
    package func change(_ change: @escaping () -> Void) {
        Fork.check("RunLoop")
        if end.hasEnded { return }
        // The object can have moved to another loop when the call is made.
        if end.handOver({ [self] in self.change(change) }) { return }
        LoopMembers.ofThread?.takeHandOversIfAny()
        change()
    }

    /// Ends the object on the thread of its loop.
    package func endHere() { if end.beginGivingBack() { giveBack(inForkedChild: false) } }

    package func takeEffect() { endHere() }
}

/// An input that any thread can remove from a mode.
protocol Removable: EndedAnywhere {
    /// Leaves a mode, or all common modes, on the thread of the loop.
    ///
    /// If the input is in another loop, or not in the mode, this does nothing.
    func leave(_ loop: LoopMembers, _ mode: Mode)

    /// Does the same for another thread.
    func leaveForAnotherThread(_ loop: LoopMembers, _ mode: Mode)

    /// The modes that the input is in, if it is in this loop.
    func modes(in loop: LoopMembers) -> [Mode]
}

extension Removable {
    func leaveForAnotherThread(_ loop: LoopMembers, _ mode: Mode) { leave(loop, mode) }

    /// Leaves the common modes, and then each mode that is left.
    func leaveAll(_ loop: LoopMembers, for leave: (Mode) -> Void) {
        leave(.common)
        for mode in modes(in: loop) { leave(mode) }
    }
}

extension Removable where Self: LoopInput {
    func leave(_ loop: LoopMembers, _ mode: Mode) { loop.remove(self, from: mode) }

    func modes(in loop: LoopMembers) -> [Mode] { membership.loop === loop ? membership.modes : [] }
}
