import Testing

@testable import RunLoops

/// A receiver without a loop, which receives from a port when the test asks for it.
final class ManualReceiver<Message: Sendable>: Sendable {
    let core: PortCore

    init(_ port: Port<Message>) {
        core = port.core
        let isReceiver = core.receiver.claim.take(for: self)
        #expect(isReceiver)
    }

    deinit { core.receiver.claim.release() }

    /// Takes in and hands out all messages in the port.
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
