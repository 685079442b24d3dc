import Testing

@testable import RunLoops

/// Receives from a port without a loop, when the test says so.
final class ManualReceiver<Message: Sendable>: Sendable {
    let core: PortCore

    init(_ port: Port<Message>) {
        core = port.core
        let isReceiver = core.receiver.claim.take(for: self)
        #expect(isReceiver)
    }

    deinit { core.receiver.claim.release() }

    /// Takes in and hands out all that is there.
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
