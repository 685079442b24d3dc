import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Any thread can end a connection or a listener, or remove it from a mode.
@Suite struct EndElsewhereTests {
    /// The ways in which another thread ends a connection.
    enum Way: CaseIterable {
        case close, reset, deinitializer

        func end(_ connection: Connection) {
            switch self {
            case .close: connection.close()
            case .reset: connection.reset()
            case .deinitializer:
                let owner = Parting { connection.close() }
                owner.hold()
            }
        }
    }

    /// A connection of a thread with a loop, which counts frames and the ends that it reports.
    private final class Stage: @unchecked Sendable {
        let thread: RunLoopThread
        let wire: Wire
        let frames = Shared()
        /// For each report of the end, the reason and whether it came on the loop's thread.
        let ends = Log<String>()
        let releases = Log<Bool>()
        let connection: Connection

        init(_ onFrame: @escaping @Sendable (Connection) -> Void = { _ in }) throws {
            wire = try Wire.sockets()
            thread = try RunLoopThread(name: "connection")
            let near = wire.giveAwayNear()
            let (frames, ends, releases) = (frames, ends, releases)
            connection = try thread.runLoop.performAndWait {
                let loop = RunLoop.current
                let made = try Connection(OwnedDescriptor(near))
                let parting = Parting { releases.add(loop.isCurrent) }
                made.onFrame(.fixed(1)) { connection, _ in
                    parting.hold()
                    frames.increment()
                    onFrame(connection)
                }
                made.onEnd { _, reason in ends.add("\(reason) \(loop.isCurrent)") }
                try loop.add(made, forMode: .default)
                return Passed(made)
            }.connection
        }

        /// Makes a frame arrive while a block of the loop runs, and calls a closure on another thread before the block returns.
        func whileAFrameWaits(_ body: @escaping @Sendable () -> Void) throws {
            let (isBlocked, isOver) = (Gate(), Gate())
            thread.runLoop.perform {
                isBlocked.open()
                _ = isOver.wait()
            }
            defer { isOver.open() }
            try #require(isBlocked.wait())
            wire.send(3)
            try BareThread(body).join()
        }

        func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait {} } }

        func stop() {
            thread.stop()
            thread.join()
            wire.close()
        }
    }

    private struct Passed: @unchecked Sendable {
        let connection: Connection
        init(_ connection: Connection) { self.connection = connection }
    }

    @Test(arguments: Way.allCases)
    func `after an end elsewhere a connection calls nothing but the report of its end`(way: Way) throws {
        let stage = try Stage()
        try stage.whileAFrameWaits {
            way.end(stage.connection)
            #expect(!stage.connection.isOpen)
            #expect(!stage.wire.isNearClosed(), "only the loop closes it")
        }
        waitUntil("the end is reported") { stage.ends.entries.count == 1 }
        try stage.pass()
        #expect(stage.frames.count == 0)
        #expect(stage.ends.entries == ["\(Connection.EndReason.closed) true"])
        #expect(stage.releases.entries == [true])
        #expect(stage.wire.nearCloses())
        stage.stop()
    }

    @Test func `an end elsewhere during a handler stops the frames that are left`() throws {
        let stage = try Stage { connection in
            nonisolated(unsafe) let connection = connection
            do { try BareThread { unsafe connection.close() }.join() } catch { Issue.record(error) }
        }
        stage.wire.send(5)
        waitUntil("the end is reported") { stage.ends.entries.count == 1 }
        #expect(stage.frames.count == 1)
        stage.stop()
    }

    @Test func `a removal elsewhere during a handler stops the frames until the connection is added again`()
        throws
    {
        let isRemoved = Shared()
        let stage = try Stage { connection in
            if isRemoved.count > 0 { return }
            isRemoved.increment()
            nonisolated(unsafe) let connection = connection
            let loop = RunLoop.current
            do {
                try BareThread { unsafe loop.remove(connection, forMode: .default) }.join()
            } catch { Issue.record(error) }
        }
        stage.wire.send(5)
        waitUntil("a frame is handled") { stage.frames.count > 0 }
        try stage.pass()
        #expect(stage.frames.count == 1)
        try stage.thread.runLoop.performAndWait { [stage] in
            try RunLoop.current.add(stage.connection, forMode: .default)
        }
        waitUntil("the rest is delivered") { stage.frames.count == 5 }
        #expect(stage.ends.entries == [])
        stage.stop()
    }

    @Test(arguments: [true, false])
    func `a listener that is ended or removed elsewhere accepts nothing more`(isRemoved: Bool) throws {
        let thread = try RunLoopThread(name: "listener")
        let loop = thread.runLoop
        let (accepted, isBlocked, isOver) = (Shared(), Gate(), Gate())
        nonisolated(unsafe) let listener = try Listener(.tcp(port: 0))
        try loop.performAndWait {
            try unsafe RunLoop.current.add(listener, forMode: .default) { _ in accepted.increment() }
        }
        loop.perform {
            isBlocked.open()
            _ = isOver.wait()
        }
        #expect(isBlocked.wait())
        let peer = try Loopback.connect(to: unsafe #require(listener.localAddress.port))
        if isRemoved {
            unsafe loop.remove(listener, forMode: .default)
        } else {
            unsafe listener.invalidate()
        }
        isOver.open()
        for _ in 0..<3 { try loop.performAndWait {} }
        #expect(accepted.count == 0)
        #expect(unsafe listener.isValid == isRemoved)
        Loopback.close(peer)
        thread.stop()
        thread.join()
    }
}
