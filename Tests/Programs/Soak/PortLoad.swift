internal import RunLoops
internal import Synchronization
internal import TestSupport

/// Eight threads send continuously to two ports, so that both ports are mostly full and senders block.
///
/// From time to time, a handler runs its loop, or removes the port and adds it again.
final class PortLoad: Load {
    private struct Message {
        let sender: Int
        let number: Int
    }

    /// A port and its loop.
    private final class Receiver: Sendable {
        let thread: RunLoopThread
        let port = Port<Message>(queueLimit: 64)

        init(_ name: String) throws { thread = try RunLoopThread(name: name) }
    }

    let name = "ports"
    let remark = "8 senders that block while a port is full, 2 receivers that run their loops inside handlers"
    let tally = Tally()
    private let senders = Senders(8)
    private let receivers: [Receiver]

    init() throws { receivers = try (0..<2).map { try Receiver("soak port \($0)") } }

    func start(seed: UInt64) throws {
        for (index, receiver) in receivers.enumerated() {
            try receiver.thread.runLoop.performAndWait { [tally] in
                var sequences = (0..<8).map { _ in SenderSequence() }
                var random = SplitMix64(seed: seed &+ UInt64(index))
                var depth = 0
                let (loop, port) = (RunLoop.current, receiver.port)
                func receive(_ message: Message) {
                    sequences[message.sender].receive(message.number, for: tally)
                    guard depth < 3, random.onceIn(1_000) else { return }
                    depth += 1
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: loop.run(in: .default, until: .distantPast)
                    case 1: loop.waitPolicy = random.onceIn(2) ? .park : .adaptive
                    default:
                        loop.remove(port, forMode: .default)
                        loop.add(port, forMode: .default, handler: receive)
                    }
                    depth -= 1
                }
                loop.add(port, forMode: .default, handler: receive)
            }
        }
        try senders.start(seed: seed) { [receivers, tally] sender in
            var numbers = [0, 0]
            return { random in
                let target = Int.random(in: 0..<2, using: &random)
                for _ in 0..<Int.random(in: 1...32, using: &random) {
                    tally.sendOne()
                    let message = Message(sender: sender, number: numbers[target])
                    numbers[target] += 1
                    do { try receivers[target].port.send(message, before: .now + .seconds(60)) } catch {
                        tally.fault("a port refused a message: \(error)")
                    }
                }
            }
        }
    }

    func stop() {
        senders.stop()
        tally.settle()
        for receiver in receivers {
            receiver.thread.stop()
            receiver.thread.join()
        }
    }
}
