import RunLoops
import ServerSupport
import Streams

/// Serves a part of the members, on its own loop.
///
/// A line of a member goes to the queues of all workers, including this worker's queue. Each worker writes the line to its members.
/// So all members receive the lines of one member in the same order.
///
/// > Thread safety: the loop's thread only. Other threads use ``queue``.
final class Worker {
    /// A report to the server.
    enum Report: Sendable {
        /// The worker sends no more lines.
        case stoppedReading
        /// The worker closes its members, and the last member has left.
        case isEmpty
    }

    private let queue: EventQueue
    private let queues: [EventQueue]
    private let reports: SendRight<Report>
    private let options: Connection.Options
    private let logsEnds: Bool

    private var members: [Int: Connection] = [:]
    /// The members from which the worker does not read, because a queue is full.
    private var waiting: [Connection] = []
    private var isReading = true
    private var isClosing = false

    /// The maximum number of bytes in a line.
    private static let lineLimit = 4096

    /// Makes the worker of this thread's loop, which keeps the worker alive.
    ///
    /// - Parameters:
    ///   - queue: The queue of this worker.
    ///   - queues: The queues of all workers.
    ///   - reports: The port of the server.
    ///   - options: The limits of a member.
    ///   - logsEnds: True if the end of each member is logged, with its reason.
    init(
        _ queue: EventQueue, among queues: [EventQueue], reports: SendRight<Report>,
        options: Connection.Options, logsEnds: Bool
    ) {
        self.queue = queue
        self.queues = queues
        self.reports = reports
        self.options = options
        self.logsEnds = logsEnds
        RunLoop.current.add(queue.events, forMode: .default) { [self] event in
            handle(event)
            if queue.didReceive() { for queue in queues { queue.allowToResume() } }
        }
        RunLoop.current.add(queue.mayResume, forMode: .default) { [self] in resumeReading() }
    }

    private func handle(_ event: EventQueue.Event) {
        switch event {
        case .join(let box, let number):
            if let accepted = box.take() { serve(accepted, number) }
        case .line(let line):
            // A member with too many unsent bytes is disconnected by this call.
            for member in members.values { member.write(line) }
        case .stopReading:
            isReading = false
            for member in members.values { member.isReadingPaused = true }
            report(.stoppedReading)
        case .closeMembers:
            isClosing = true
            for member in members.values {
                member.write("* The server stops. Goodbye!\n")
                member.closeAfterWriting()
            }
            if members.isEmpty { report(.isEmpty) }
        }
    }

    private func serve(_ accepted: consuming AcceptedSocket, _ number: Int) {
        let address = accepted.peerAddress
        let member = Connection(accepted, options: options)
        member.onFrame(.lines(upTo: Worker.lineLimit)) { [self] member, line in
            broadcast(line, of: number)
            if queues.contains(where: \.isFull) {
                member.isReadingPaused = true
                waiting.append(member)
            }
        }
        member.onEnd { [self] _, reason in
            members[number] = nil
            if logsEnds { log("\(number) at \(address): \(reason)") }
            if isClosing && members.isEmpty { report(.isEmpty) }
        }
        do { try RunLoop.current.add(member, forMode: .default) } catch {
            return log("\(number) at \(address): not served: \(error)")
        }
        members[number] = member
        member.write("* Welcome, number \(number).\n")
    }

    /// Sends a line to all members of all workers, with the number of its author.
    private func broadcast(_ line: RawSpan, of number: Int) {
        var text = Array("\(number)> ".utf8)
        line.withUnsafeBytes { text.append(contentsOf: $0) }
        text.append(UInt8(ascii: "\n"))
        for queue in queues { queue.send(.line(text)) }
    }

    private func resumeReading() {
        let members = waiting
        waiting = []
        if isReading { for member in members { member.isReadingPaused = false } }
    }

    private func report(_ report: Report) {
        do { try reports.send(report) } catch { log("the server has ended before its workers: \(error)") }
    }
}
