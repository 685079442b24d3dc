import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Connections in tasks".
@Suite struct ConnectionsInTasksSnippets {
    actor Session: RunLoopActor {
        nonisolated let runLoop: RunLoop

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func serve(_ box: AcceptedSocket.Box) async throws {
            guard let accepted = box.take() else { return }
            let connection = Connection(accepted)
            try runLoop.add(connection, forMode: .default)
            for try await line in connection.frames(.lines(upTo: 512)) {
                if !connection.write(line + [0x0a]) { try await connection.drained() }
            }
            connection.closeAfterWriting()
        }
    }

    @Test func `an actor serves a connection on its loop`() async throws {
        let thread = try RunLoopThread(name: "session")
        let session = Session(on: thread.runLoop)
        let ended = Gate()
        let address = try await thread.runLoop.performAndWait {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                let box = accepted.boxed()
                Task {
                    do { try await session.serve(box) } catch { Issue.record(error) }
                    ended.open()
                }
            }
            return listener.localAddress
        }
        let client = try Loopback.connect(to: try #require(address.port))
        await yieldUntil("it is connected") {
            (try? Loopback.write(Array("one\ntwo\n".utf8), to: client)) ?? 0 > 0
        }
        Loopback.endSending(client)
        var read = ""
        await yieldUntil("all is echoed") {
            read +=
                (try? Loopback.read(client)).flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return read == "one\ntwo\n"
        }
        await yieldUntil("it has ended") { ended.wait(seconds: 0) }
        thread.stop()
        await thread.join()
    }

    /// An object of each member, which is not `Sendable`.
    final class Member {
        let connection: Connection
        var lineCount = 0

        init(_ connection: Connection) { self.connection = connection }
    }

    actor Room: RunLoopActor {
        nonisolated let runLoop: RunLoop
        private var members: [ObjectIdentifier: Member] = [:]

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func join(_ box: AcceptedSocket.Box) throws {
            guard let accepted = box.take() else { return }
            let member = Member(Connection(accepted))
            members[ObjectIdentifier(member)] = member
            member.connection.onFrame(.lines()) { _, _ in member.lineCount += 1 }
            member.connection.onEnd { _, _ in self.leave(member) }
            try runLoop.add(member.connection, forMode: .default)
        }

        private func leave(_ member: Member) {
            print(member.lineCount, "lines")
            members[ObjectIdentifier(member)] = nil
        }
    }

    @Test func `two handlers of an actor capture one object`() async throws {
        let thread = try RunLoopThread(name: "room")
        let room = Room(on: thread.runLoop)
        let ended = Gate()
        let address = try await thread.runLoop.performAndWait {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                let box = accepted.boxed()
                room.assumeIsolated { room in
                    do { try room.join(box) } catch { Issue.record(error) }
                }
                listener.stop { _ in ended.open() }
            }
            return listener.localAddress
        }
        let client = try Loopback.connect(to: try #require(address.port))
        await yieldUntil("it is connected") {
            (try? Loopback.write(Array("one\ntwo\n".utf8), to: client)) ?? 0 > 0
        }
        Loopback.endSending(client)
        await yieldUntil("it has ended") { ended.wait(seconds: 0) }
        thread.stop()
        await thread.join()
    }
}
