import Foundation
import TestExpectations
import TestSupport
import Testing

import class MessagePorts.MessagePort
import class RunLoops.RunLoop

@testable import MessagePorts
@testable import RunLoops

/// A directory of names for one test, which is removed with this object.
final class OwnNames: Sendable {
    private let place: ScratchDirectory
    var directory: String { place.path }
    var names: PortNames { PortNames(directory: directory) }

    init() throws { place = try ScratchDirectory() }

    deinit {
        do { try place.remove() } catch { Issue.record(error) }
    }
}

/// A port that is served on its own thread.
final class PortServer: Sendable {
    let names: OwnNames
    let name: PortName
    let thread: RunLoopThread
    let port: MessagePort

    // The handler is called on that thread with each message. If the handler is nil, the port is not added to the loop.
    init(
        _ names: OwnNames? = nil, limits: MessagePort.Options = MessagePort.Options(),
        _ handler: (@Sendable (consuming MessagePort.Message) -> Void)? = { message in _ = consume message },
        admitting admits: @escaping @Sendable (PeerCredentials) -> Bool = { $0.isOfThisUser }
    ) throws {
        self.names = try names ?? OwnNames()
        name = try PortName("test")
        thread = try RunLoopThread(name: "server")
        port = try MessagePort(named: name, in: self.names.names, options: limits, admitting: admits)
        if let handler { try serve(handler) }
    }

    deinit {
        port.invalidate()
        thread.stop()
    }

    /// Adds the port to the loop.
    func serve(
        in mode: RunLoop.Mode = .common,
        _ handler: @escaping @Sendable (consuming MessagePort.Message) -> Void
    ) throws {
        try onThread { [port] loop in try loop.add(port, forMode: mode) { handler($0) } }
    }

    /// Removes the port from the loop.
    func pause() throws { try onThread { [port] loop in loop.remove(port, forMode: .common) } }

    func onThread<Result: Sendable>(_ body: @escaping @Sendable (RunLoop) throws -> Result) throws -> Result {
        try thread.runLoop.performAndWait { try body(RunLoop.current) }
    }

    func connect(before deadline: ContinuousClock.Instant = .hang) throws -> RemotePort {
        try RemotePort(named: name, in: names.names, before: deadline)
    }
}

/// The bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The text of a message.
func text(_ message: borrowing MessagePort.Message) -> String {
    String(decoding: message.bytes, as: UTF8.self)
}

/// The error that a call throws, or nil.
func refusal(_ body: () throws(MessagePortError) -> Void) -> MessagePortError? {
    do {
        try body()
        return nil
    } catch { return error }
}

struct Unexpected: Error {}

/// A right to reply, which one thread takes.
final class RightHolder: Sendable {
    private let lock = Guarded(())
    /// `nonisolated(unsafe)`: accessed under the lock, which cannot hold a noncopyable value.
    nonisolated(unsafe) private var right: MessagePort.ReplyRight?

    init() {}

    func keep(_ right: consuming MessagePort.ReplyRight?) {
        var right = right
        lock.withLock { _ in unsafe self.right = right.take() }
    }

    var isEmpty: Bool {
        lock.withLock { _ in
            switch unsafe right {
            case .some: false
            case .none: true
            }
        }
    }

    private func take() -> MessagePort.ReplyRight? {
        var taken: MessagePort.ReplyRight?
        lock.withLock { _ in taken = unsafe right.take() }
        return taken
    }

    /// Replies with a text.
    func reply(_ text: String = "") -> MessagePortError? {
        guard let right = take() else { return MessagePortError(.noReply) }
        do throws(MessagePortError) {
            try right.reply(bytes(text))
            return nil
        } catch { return error }
    }
}
