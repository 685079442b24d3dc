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
/// > Thread safety: any thread.
open class Port: NSObject {
    /// The name of the notification that a port posts when it becomes invalid, with the port as the object.
    public static let didBecomeInvalidNotification = Notification.Name("NSPortDidBecomeInvalidNotification")

    private struct State: Sendable {
        var isValid = true
        /// The port that keeps the modes of a loop alive, for each loop.
        var keepers: [RunLoop: RunLoops.Port<Void>] = [:]
        /// The modes of each loop to which the port was added.
        var modes: [RunLoop: Set<RunLoop.Mode>] = [:]
        /// The place where the port was last added to a loop; the name of the member if only that member has put it into a loop.
        var place = SourceLocation("Port.schedule(in:forMode:)", 0)
    }

    private let state = Guarded(State())

    /// Makes a port that is not yet in a loop.
    public override init() {}

    /// True until the port is invalidated.
    open var isValid: Bool { state.withLock { $0.isValid } }

    /// Permanently removes the port from its loop, and posts ``didBecomeInvalidNotification`` on the calling thread.
    ///
    /// Calling it again does nothing.
    open func invalidate() {
        let ended = state.withLock { state -> State? in
            guard state.isValid else { return nil }
            defer {
                state = State()
                state.isValid = false
            }
            return state
        }
        guard let ended else { return }
        for (loop, keeper) in ended.keepers {
            keeper.invalidate()
            // So the next run finds the mode empty, even if no pass comes before it.
            for mode in ended.modes[loop] ?? [] { loop.remove(keeper, forMode: mode) }
        }
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    /// Puts the port into a mode of a loop.
    ///
    /// `RunLoop.add(_:forMode:)` calls this on its own thread, once for each mode until the port is removed from that mode. A
    /// subclass that has inputs of its own adds them here.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    open func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let keeper = state.withLock { state -> RunLoops.Port<Void>? in
            if !state.isValid { return nil }
            let keeper =
                state.keepers[runLoop]
                ?? RunLoops.Port<Void>(fileID: state.place.fileID, line: Int(state.place.line))
            state.keepers[runLoop] = keeper
            return keeper
        }
        guard let keeper else { return }
        runLoop.handOver { runLoop.add(keeper, forMode: mode) {} }
    }

    /// Takes the port out of a mode of a loop.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - mode: The mode.
    open func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        if let keeper = state.withLock({ $0.keepers[runLoop] }) { runLoop.remove(keeper, forMode: mode) }
    }

    /// Records that the port is added to a mode; false if it is in the mode already.
    fileprivate func enter(_ runLoop: RunLoop, _ mode: RunLoop.Mode, _ place: SourceLocation) -> Bool {
        state.withLock { state in
            state.place = place
            return state.modes[runLoop, default: []].insert(mode).inserted
        }
    }

    /// Records that the port is removed from a mode; false if it is not in the mode.
    fileprivate func leave(_ runLoop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        state.withLock { $0.modes[runLoop]?.remove(mode) != nil }
    }
}

@available(*, unavailable)
extension Port: @unchecked Sendable {}

extension RunLoop {
    /// Adds a port to a mode, so that a run does not end because the mode is empty.
    ///
    /// If the port is in the mode already, the call does nothing. On another thread than the loop's, the loop takes the port over in
    /// its next pass.
    ///
    /// - Parameters:
    ///   - port: The port.
    ///   - mode: The mode, or `.common` for all common modes.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///
    /// > Thread safety: any thread.
    public func add(
        _ port: Port, forMode mode: Mode, fileID: StaticString = #fileID, line: Int = #line
    ) {
        if port.enter(self, mode, SourceLocation(fileID, line)) { port.schedule(in: self, forMode: mode) }
    }

    /// Removes a port from a mode.
    ///
    /// - Parameters:
    ///   - port: The port. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or `.common` for all common modes.
    ///
    /// > Thread safety: any thread.
    public func remove(_ port: Port, forMode mode: Mode) {
        if port.leave(self, mode) { port.remove(from: self, forMode: mode) }
    }
}
