import Foundation
import TestSupport
import Testing

import class RunLoops.MessagePort
import class RunLoops.RunLoop

@testable import RunLoops

/// Names of a test's own, in a directory that goes with it.
final class OwnNames: Sendable {
    let directory: String
    var names: PortNames { PortNames(directory: directory) }

    init() throws {
        directory = "/tmp/run-loops-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
    }
}

/// A port that is served on a thread of its own.
final class PortServer: Sendable {
    let names: OwnNames
    let name: PortName
    let thread: RunLoopThread
    let port: MessagePort

    // The handler is called on the thread with each message; nil leaves the port out of the loop.
    init(
        limits: MessagePort.Limits = MessagePort.Limits(),
        _ handler: (@Sendable (consuming MessagePort.Message) -> Void)? = { message in _ = consume message },
        admitting admits: @escaping @Sendable (PeerCredentials) -> Bool = { $0.isOfThisUser }
    ) throws {
        names = try OwnNames()
        name = try PortName("test")
        thread = try RunLoopThread(name: "server")
        port = try MessagePort(name: name, in: names.names, limits: limits, admitting: admits)
        if let handler { try serve(handler) }
    }

    deinit {
        port.invalidate()
        thread.stop()
    }

    /// Puts the port into its loop.
    func serve(
        in mode: RunLoop.Mode = .common,
        _ handler: @escaping @Sendable (consuming MessagePort.Message) -> Void
    ) throws {
        try onThread { [port] loop in try loop.add(port, forMode: mode) { handler($0) } }
    }

    /// Takes the port out of its loop.
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

/// What a call throws, if it does.
func refusal(_ body: () throws(MessagePortError) -> Void) -> MessagePortError? {
    do {
        try body()
        return nil
    } catch { return error }
}
