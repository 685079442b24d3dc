/// Calls a handler on the thread of the source's loop after any thread has signalled the source.
///
/// Signals merge: the handler is called once for all signals that arrive before the call, and once more for all signals that arrive
/// during the call. A signal is kept while the source's modes do not run, and while the source is in no loop. Unlike in Core
/// Foundation, signalling wakes the loop. If the handler runs the loop, that inner run does not call the handler again, unless the
/// source was removed and added again in the meantime.
///
/// ```swift
/// let source = ManualSource { flush() }
/// RunLoop.current.add(source, forMode: .default)
/// Task.detached { source.signal() }
/// ```
///
/// > Thread safety: any thread.
public final class ManualSource: Sendable {
    private let bell = Doorbell()
    private let claim = Claim()

    package let end = InputEnd()

    /// The handler; nil after the source has given it back.
    ///
    /// `nonisolated(unsafe)`: only one thread at a time uses the handler and the input. Before other threads have the source, this
    /// is the thread that makes the source. After that, it is the thread of the loop that holds the source's ``Claim``, or the
    /// thread that gives the source back.
    nonisolated(unsafe) private var handler: (() -> Void)?
    /// The object that represents the source in its loop; nil while the source is in no loop.
    nonisolated(unsafe) private var input: ManualInput?
    let origin: SourceLocation

    /// True until the source is invalidated.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }

    /// Makes a source that is in no loop yet.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread. The source holds the handler until the source is invalidated.
    public init(fileID: StaticString = #fileID, line: Int = #line, handler: sending @escaping () -> Void) {
        unsafe self.handler = handler
        origin = SourceLocation(fileID, line)
    }

    /// Makes the loop call the handler, and wakes the loop if it sleeps.
    ///
    /// The call never blocks, and does nothing if the source is invalid.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func signal() {
        Fork.check("ManualSource.signal")
        if let node = bell.ring() { ReadyNode.send(node) }
    }

    /// Removes the source from its loop for good, and releases its handler.
    ///
    /// The handler does not start afterwards, and signals have no effect. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }

    func join(_ loop: ReadyInputs, _ mode: RunLoop.Mode) {
        if loop.members.hasEnded { return }
        guard claim.take(for: loop.handle) else {
            misuse(
                "RunLoop.add(source): the source made at \(origin) is in another loop; remove it there first")
        }
        // If the source is in this loop already, leaving the loop releases the claim.
        guard end.join(loop.handle), let handler = unsafe handler else {
            return unsafe input == nil ? claim.release() : ()
        }
        let joined: ManualInput
        if let known = unsafe input {
            joined = known
        } else {
            joined = ManualInput(self, loop.handle, handler)
            unsafe input = joined
        }
        loop.add(joined, to: mode)
        joined.arm(in: loop)
    }

    func leave(_ loop: LoopMembers, _ mode: RunLoop.Mode) {
        guard claim.isHeld(by: loop.handle), let input = unsafe input else { return }
        loop.remove(input, from: mode)
    }

    func modes(in loop: LoopMembers) -> [RunLoop.Mode] {
        claim.isHeld(by: loop.handle) ? unsafe input?.membership.modes ?? [] : []
    }

    /// The object that represents a manual source in one loop.
    ///
    /// Only the loop's thread may use this object.
    final class ManualInput: ManuallySignalledInput {
        var membership = Membership()
        fileprivate let source: ManualSource
        var origin: SourceLocation { source.origin }
        /// The handler; it does nothing after the source has given it back.
        fileprivate var handler: () -> Void
        private var signal: ReadyNode?
        private var isServing = false
        /// True if a signal reached the loop while the handler was on the stack.
        private var signalledMeanwhile = false
        private var hasBeenArmed = false

        init(_ source: ManualSource, _ handle: LoopHandle, _ handler: @escaping () -> Void) {
            self.source = source
            self.handler = handler
            signal = ReadyNode(handle: handle, input: self)
        }

        var keepsModeAlive: Bool { true }
        var step: SignalledStep { .manualSources }

        /// Arms the source's ``Doorbell`` for the next signal, or marks the input as ready if a signal has arrived before.
        func arm(in loop: ReadyInputs) {
            guard let signal, !hasBeenArmed else { return }
            hasBeenArmed = true
            if !source.bell.armUnlessRung(with: signal.retainedNode()) {
                loop.becameReady(ReadyNode.takeRetained(signal.node))
            }
        }

        func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served {
            if !source.end.isUntouched && !admits(in: loop) { return Served() }
            if self.signal == nil { return Served() }
            if isServing {
                signalledMeanwhile = true
                return Served()
            }
            isServing = true
            // The bell is armed before the call, so that a signal that arrives during the call is not lost.
            source.bell.arm(with: signal.retainedNode())
            loop.handlers.call(source.origin, as: .manualSource, handler)
            isServing = false
            defer { signalledMeanwhile = false }
            return Served(calledHandler: true, hasMore: signalledMeanwhile && self.signal != nil)
        }

        /// Lets what other threads have handed over take effect, and returns true if the source may still be served.
        ///
        /// If the source has left the mode, it keeps its signal.
        private func admits(in loop: ReadyInputs) -> Bool {
            guard loop.members.admits(touched: source.end), let signal else { return false }
            if let mode = loop.members.currentMode, isIn(mode) { return true }
            loop.becameReady(signal)
            return false
        }

        func didLeave(_ loop: LoopMembers) {
            // If a signal has reached the loop and was not served, the bell still contains the signal.
            if let node = source.bell.disarm() { _ = ReadyNode.takeRetained(node) }
            signal?.input = nil
            signal = nil
            unsafe source.input = nil
            source.claim.release()
        }
    }
}

extension ManualSource: Removable {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = unsafe handler
        unsafe handler = nil
        // The input holds the handler, too.
        if let input = unsafe input {
            input.handler = {}
            if !isChild { input.membership.loop?.remove(input) }
        }
        // The handler is released last, when all state is consistent, because destroying an object that it holds can call back.
        withExtendedLifetime(released) {}
    }
}

extension ManualSource: CustomStringConvertible {
    /// The place where the source was made.
    public var description: String { "manual source made at \(origin)" }
}
