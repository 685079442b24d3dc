/// An object that a loop serves in the modes that it was added to.
///
/// Timers, sources, observers, ports, listeners and connections are members. What is only a member, such as a ``Port``, joins a loop
/// together with a handler. A ``RunLoopInput`` needs nothing but a mode.
///
/// Call ``RunLoop/remove(_:forMode:)`` and ``RunLoop/remove(_:)`` instead of the methods of the protocol. Implement them for a
/// member that consists of others.
public protocol RunLoopMember: AnyObject {
    /// Takes the object out of a mode of a loop.
    ///
    /// Call ``RunLoop/remove(_:forMode:)`` instead.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes. If the object is not in it, nothing happens.
    ///
    /// > Thread safety: any thread, for the members of this package: <doc:Ends>.
    func remove(from loop: RunLoop, forMode mode: RunLoop.Mode)

    /// Takes the object out of all modes of a loop, ``RunLoop/Mode/common`` included.
    ///
    /// Call ``RunLoop/remove(_:)`` instead.
    ///
    /// - Parameter loop: The loop. If the object is not in it, nothing happens.
    ///
    /// > Thread safety: any thread, for the members of this package: <doc:Ends>.
    func remove(from loop: RunLoop)
}

/// A member that needs nothing but a mode to be served, such as a timer, a source or a connection.
///
/// An object that consists of inputs can be an input itself:
///
/// ```swift
/// final class Heartbeat: RunLoopInput {
///     let timer: Timer
///     let source: DescriptorSource
///
///     func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
///         try loop.add(source, forMode: mode)
///         loop.add(timer, forMode: mode)
///     }
///
///     func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
///         loop.remove(source, forMode: mode)
///         loop.remove(timer, forMode: mode)
///     }
///
///     func remove(from loop: RunLoop) {
///         loop.remove(source)
///         loop.remove(timer)
///     }
/// }
/// ```
public protocol RunLoopInput: RunLoopMember {
    /// The error of joining: `Never` if joining always succeeds, else ``SystemError``.
    associatedtype JoinError: Error = Never

    /// Adds the object to a mode of a loop.
    ///
    /// Call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: The error of joining. The object is unchanged then.
    func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(JoinError)
}

extension RunLoop {
    /// Adds an input to a mode.
    ///
    /// The loop holds the input until the input is removed from its last mode or ends. If the input is in the mode already, or has
    /// ended, the call does nothing. The input's own `schedule(in:forMode:)`, such as ``Timer/schedule(in:forMode:)``, says what is
    /// particular to it.
    ///
    /// - Parameters:
    ///   - input: The input. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: The error of joining, such as a ``SystemError`` if the kernel has no room to watch a descriptor. The input is
    ///   unchanged then. Adding a timer, an observer or a ``ManualSource`` throws nothing.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add<Input: RunLoopInput>(_ input: Input, forMode mode: Mode) throws(Input.JoinError) {
        try input.schedule(in: self, forMode: mode)
    }

    /// Removes a member from a mode.
    ///
    /// The member's handlers do not start in that mode afterwards. The member stays valid, and keeps what has arrived for it.
    ///
    /// - Parameters:
    ///   - member: The member. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(_ member: some RunLoopMember, forMode mode: Mode) {
        member.remove(from: self, forMode: mode)
    }

    /// Removes a member from all modes, ``Mode/common`` included.
    ///
    /// - Parameter member: The member. If it is not in this loop, the call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(_ member: some RunLoopMember) { member.remove(from: self) }
}
