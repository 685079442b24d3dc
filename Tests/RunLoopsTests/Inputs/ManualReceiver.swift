import Testing

@testable import RunLoops

/// A receiver that receives from a port without a loop, when the test calls it.
final class ManualReceiver<Message: Sendable>: Sendable {
    let core: PortCore

    init(_ port: Port<Message>) {
        core = port.core
        let isReceiver = core.receiver.claim.take(for: self)
        #expect(isReceiver)
    }

    deinit { core.receiver.claim.release() }

    /// Takes all messages out of the port, and returns them.
    func receiveAll() -> [Message] {
        var messages: [Message] = []
        _ = core.takeMail()
        while let node = core.next {
            let taken = core.take(from: node)
            messages.append(taken.slot.move(Message.self))
            if taken.isLast { PortCore.discard(node) }
        }
        return messages
    }
}
