import Foundation

/// Members of a chat that send lines at a rate, and check the lines that they receive.
///
/// A line is the number of its author in the load, its number among the lines of that author, and the time at which it was sent.
/// Each member knows the next line of each author, and so detects a line that is lost, arrives twice or is out of order.
final class ChatLoad {
    let members: [Peer]
    private var unread: [[UInt8]]
    /// For each member, the number of the next line from each author.
    private var expected: [[Int32]]
    /// The number of the next line of each author.
    private var next: [Int32]

    /// The measurements of one run.
    struct Outcome: CustomStringConvertible {
        var deliveries = 0
        var lost = 0
        var doubled = 0
        var seconds = 0.0
        /// The number of deliveries by the time that they took, in steps of ten microseconds.
        fileprivate var histogram = [Int](repeating: 0, count: 300_000)

        /// The time, in milliseconds, that the given share of the deliveries did not exceed.
        func percentile(_ share: Double) -> Double {
            var rest = Int(Double(deliveries) * share)
            for (step, count) in histogram.enumerated() {
                rest -= count
                if rest <= 0 { return Double(step) / 100 }
            }
            return Double(histogram.count) / 100
        }

        var description: String {
            "\(deliveries) deliveries in \(Int(seconds * 1_000)) ms, lost \(lost), doubled \(doubled), "
                + "p50 \(percentile(0.5)) ms, p99 \(percentile(0.99)) ms, p99.9 \(percentile(0.999)) ms"
        }
    }

    /// Connects members, and waits until the server serves them.
    init(port: UInt16, count: Int) throws {
        members = try (0..<count).map { _ in try Peer(port: port) }
        for member in members where try member.line()?.hasPrefix("* Welcome") != true {
            throw Failure("no welcome")
        }
        unread = Array(repeating: [], count: count)
        expected = Array(repeating: Array(repeating: 0, count: count), count: count)
        next = Array(repeating: 0, count: count)
    }

    /// Sends lines from all members in turn, and receives the lines.
    ///
    /// - Parameters:
    ///   - lines: The number of lines.
    ///   - rate: The number of lines in a second.
    ///   - padding: The number of bytes that are added to each line.
    /// - Returns: The measurements, after each member has received each line.
    /// - Throws: ``Failure`` if a member is disconnected, or no line arrives.
    func run(lines: Int, rate: Int, padding: Int = 0) throws -> Outcome {
        let first = next
        for line in 0..<lines { next[line % members.count] += 1 }
        let sender = Worker { [members] in
            try ChatLoad.send(lines: lines, rate: rate, padding: padding, members, first)
        }
        let start = ContinuousClock.now
        var outcome = try receive(lines * members.count)
        try sender.join()
        outcome.seconds = (ContinuousClock.now - start) / .seconds(1)
        return outcome
    }

    private static func send(
        lines: Int, rate: Int, padding: Int, _ members: [Peer], _ first: [Int32]
    ) throws {
        var next = first
        let tail = String(repeating: "x", count: padding)
        let start = now()
        for line in 0..<lines {
            let due = start + line * 1_000_000_000 / rate
            var date = timespec(tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000)
            while clock_nanosleep(CLOCK_MONOTONIC, CInt(TIMER_ABSTIME), &date, nil) == EINTR {}
            let author = line % members.count
            try members[author].send("\(author) \(next[author]) \(now()) \(tail)\n")
            next[author] += 1
        }
    }

    /// Receives `count` lines in all.
    private func receive(_ count: Int) throws -> Outcome {
        var outcome = Outcome()
        var entries = members.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while outcome.deliveries < count {
            if poll(&entries, nfds_t(entries.count), 30_000) == 0 {
                throw Failure("nothing comes after \(outcome), of \(count)")
            }
            for member in entries.indices where entries[member].revents != 0 {
                let received = recv(entries[member].fd, &buffer, buffer.count, CInt(MSG_DONTWAIT))
                if received <= 0 { throw Failure("member \(member) was disconnected after \(outcome)") }
                check(buffer[..<received], of: member, &outcome)
            }
        }
        return outcome
    }

    /// Checks the bytes that a member has received.
    private func check(_ bytes: ArraySlice<UInt8>, of member: Int, _ outcome: inout Outcome) {
        let time = ChatLoad.now()
        let all = unread[member].isEmpty ? Array(bytes) : unread[member] + bytes
        var start = 0
        all.withUnsafeBufferPointer { all in
            while let length = all[start...].firstIndex(of: 10).map({ $0 - start }) {
                let line = all[start..<start + length]
                start += length + 1
                var position = (line.firstIndex(of: UInt8(ascii: ">")) ?? line.endIndex) + 2
                let author = ChatLoad.number(line, &position)
                let number = Int32(ChatLoad.number(line, &position))
                let sent = ChatLoad.number(line, &position)
                let awaited = expected[member][author]
                if number < awaited { outcome.doubled += 1 } else { outcome.lost += Int(number - awaited) }
                expected[member][author] = max(awaited, number + 1)
                outcome.deliveries += 1
                outcome.histogram[min(max(time - sent, 0) / 10_000, outcome.histogram.count - 1)] += 1
            }
        }
        unread[member] = Array(all[start...])
    }

    private static func number(_ line: Slice<UnsafeBufferPointer<UInt8>>, _ position: inout Int) -> Int {
        var number = 0
        while position < line.endIndex, case let digit = Int(line[position]) - 48, digit >= 0 {
            number = number * 10 + digit
            position += 1
        }
        position += 1
        return number
    }

    /// The time on the monotonic clock, in nanoseconds.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
