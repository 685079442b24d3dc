import RunLoops
import ServerSupport
import Streams

/// The members whose connections one loop serves.
///
/// A line of a member goes to all rooms. Until the last room has written it, the member is not read from. So each member has one
/// line under way, and all members receive the lines of one member in the same order.
actor Room: RunLoopActor {
    nonisolated let runLoop: RunLoop
    private var members: [Int: Connection] = [:]
    private var isReading = true

    init(on runLoop: RunLoop) { self.runLoop = runLoop }

    /// Serves a new member, whose lines go to `rooms`.
    func join(_ socket: AcceptedSocket.Box, _ options: Connection.Options, _ number: Int, _ rooms: [Room]) {
        guard let accepted = socket.take() else { return }
        let member = Connection(accepted, options: options)
        member.onFrame(.lines(upTo: 4096)) { member, line in
            member.isReadingPaused = true
            let text = Array("\(number)> ".utf8) + [UInt8](line) + [UInt8(ascii: "\n")]
            let delivery = Delivery { self.perform { $0.resume(number) } }
            for room in rooms { room.perform { $0.write(text, delivery) } }
        }
        member.onEnd { _, reason in
            self.members[number] = nil
            log("\(number): \(reason)")
        }
        do { try runLoop.add(member, forMode: .default) } catch { return log("\(number): \(error)") }
        members[number] = member
        member.write("* Welcome, number \(number).\n")
    }

    /// Writes a line to all members, of which one with too many unsent bytes is disconnected.
    private func write(_ text: [UInt8], _: Delivery) { for member in members.values { member.write(text) } }

    private func resume(_ number: Int) { if isReading { members[number]?.isReadingPaused = false } }

    /// Reads no more lines.
    func stopReading() {
        isReading = false
        for member in members.values { member.isReadingPaused = true }
    }

    /// Says goodbye to the members, and closes their connections.
    func close() {
        for member in members.values {
            member.write("* The server stops. Goodbye!\n")
            member.closeAfterWriting()
        }
    }
}

/// A line on its way, which the last room that has written it releases.
private final class Delivery: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
