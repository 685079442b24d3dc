public import Foundation
public import Notifications
public import RunLoops

public import struct Notifications.Notification
public import class Notifications.NotificationCenter
public import class RunLoops.RunLoop

/// An object that keeps a mode of a loop alive, and to which subclasses add inputs of their own.
///
/// A run ends if its mode is empty. A port in the mode prevents that:
///
/// ```swift
/// RunLoop.current.add(Port(), forMode: .default)
/// while isWorking { RunLoop.current.run(mode: .default, before: .distantFuture) }
/// ```
///
/// This port carries no messages; `RunLoops.Port` carries values between threads, and `MessagePort` bytes between processes.
///
/// > Thread safety: ``isValid`` and ``invalidate()`` from any thread; the rest on the loop's own thread.
open class Port: NSObject {
    /// The name of the notification that a port posts when it becomes invalid, with the port as the object.
    public static let didBecomeInvalidNotification = Notification.Name("NSPortDidBecomeInvalidNotification")

    private let signals = RunLoops.Port<Void>()

    /// Makes a port that is not yet in a loop.
    public override init() {}

    /// True until the port is invalidated.
    open var isValid: Bool { signals.isValid }

    /// Permanently removes the port from its loop, and posts ``didBecomeInvalidNotification`` on the calling thread.
    ///
    /// Calling it again does nothing.
    open func invalidate() {
        if !signals.isValid { return }
        signals.invalidate()
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    /// Puts the port into a mode of a loop.
    ///
    /// The loop calls this when the port is added to it. A subclass that has inputs of its own adds them here.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        if signals.isValid { runLoop.add(signals, forMode: mode) {} }
    }

    /// Takes the port out of a mode of a loop.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        runLoop.remove(signals, forMode: mode)
    }
}

@available(*, unavailable)
extension Port: @unchecked Sendable {}

extension RunLoop {
    /// Adds a port to a mode, so that a run does not end because the mode is empty.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - mode: The mode, or `.common` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ port: Port, forMode mode: Mode) { port.schedule(in: self, forMode: mode) }

    /// Removes a port from a mode.
    ///
    /// - Parameters:
    ///   - port: The port. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or `.common` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ port: Port, forMode mode: Mode) { port.remove(from: self, forMode: mode) }
}
