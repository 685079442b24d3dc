/// An input of one loop that any thread can ring, and that another module of the package serves.
///
/// The loop serves the input in the step of the ports, within the same budget as the ports. Rings that the loop has not answered
/// merge into one, and a ring allocates nothing. A run inside a handler of the input serves the input only if it is rung or becomes
/// ready again.
///
/// The input has no descriptor. A module that watches descriptors of its own reports them with ``becameReady()``.
///
/// > Thread safety: the loop's own thread only, except for ``bell``.
package final class RungInput: SignalledInput {
    /// The part of the input that other threads use.
    package let bell = Bell()
    private let loop: LoopCore
    var membership = Membership()
    /// The object that represents this input in the loop's queue of ready inputs; nil while the input is in no mode.
    private var signal: ReadyNode?
    private var server: (any RungServer)?

    /// The bell of an input.
    ///
    /// > Thread safety: any thread.
    package final class Bell: Sendable {
        fileprivate let doorbell = Doorbell()

        /// Makes the loop serve the input soon; if the input is in no mode, it is served when it has joined one.
        package func ring() { if let node = doorbell.ring() { ReadyNode.send(node) } }
    }

    /// Prepares an input for the loop of the calling thread.
    ///
    /// - Parameter loop: The loop of the calling thread.
    package init(in loop: RunLoop) {
        self.loop = loop.core("RunLoop.add(input)", "perform a block on the loop and add it there")
    }

    /// Puts the input into a mode, or into all common modes.
    ///
    /// If the loop has ended, the input joins nothing.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - server: The module's object that serves the input. The input holds it until the input has left the loop.
    package func join(_ mode: RunLoop.Mode, server: any RungServer) {
        if loop.members.hasEnded { return }
        if signal == nil {
            let signal = ReadyNode(handle: loop.handle, input: self)
            self.signal = signal
            self.server = server
            loop.readyInputs.add(self, to: mode)
            // If the bell was rung before, the node stays at home until the input is served.
            if !bell.doorbell.armUnlessRung(with: signal.retainedNode()) {
                loop.readyInputs.becameReady(ReadyNode.takeRetained(signal.node))
            }
            return
        }
        loop.readyInputs.add(self, to: mode)
    }

    /// Removes the input from a mode, or from all common modes.
    package func leave(_ mode: RunLoop.Mode) { if signal != nil { loop.members.remove(self, from: mode) } }

    /// Removes the input from all its modes.
    package func leave() { if signal != nil { loop.members.remove(self) } }

    /// Schedules the input to be served.
    package func becameReady() { if let signal { loop.readyInputs.becameReady(signal) } }

    /// Calls a handler of the program, and times, watches or records the call if the program has asked for that.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the program passed in the handler.
    ///   - handler: A closure that calls the handler of the program.
    package func callHandler(_ origin: SourceLocation, _ handler: () -> Void) {
        loop.members.handlers.call(origin, handler)
    }

    /// The descriptions of the input, for an inspector.
    var parts: [InspectedPart] { server?.parts ?? [] }

    var keepsModeAlive: Bool { true }
    var unservedParts: [Unserved] { parts.map { Unserved($0.kind, madeAt: $0.madeAt) } }
    var step: SignalledStep { .ports }

    func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served {
        guard self.signal != nil, let server, let mode = loop.members.currentMode else { return Served() }
        // The bell is armed before the server looks for work, so that a ring during the call is not lost. If the node is out, the
        // bell is armed already, or a thread that has rung is about to send the node.
        if !signal.isOut, bell.doorbell.arm(with: signal.retainedNode()) { server.answerRing() }
        return server.serve(in: mode, &budget)
    }

    func didLeave(_ loop: LoopMembers) {
        guard let signal else { return }
        if let node = bell.doorbell.disarm() { _ = ReadyNode.takeRetained(node) }
        signal.input = nil
        self.signal = nil
        let server = server
        self.server = nil
        server?.didLeaveLoop()
    }
}

/// The part of a ``RungInput`` that another module implements.
///
/// > Thread safety: the thread of the input's loop only.
package protocol RungServer: InputServer {
    /// Called before the input is served, if the bell was rung.
    func answerRing()
}
