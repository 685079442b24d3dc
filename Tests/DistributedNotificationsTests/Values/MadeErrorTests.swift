import DistributedNotifications
import Glibc
import MessagePorts
import RunLoops
import Testing

/// Errors that a user's tests make have what belongs to their reason, and describe it.
@Suite struct MadeErrorTests {
    private static let system = SystemError(call: "connect", code: EMFILE)

    @Test func `an error of a port`() {
        let name = PortNameError(.refused, systemError: Self.system)
        #expect(name.systemError == Self.system && "\(name)" == "\(Self.system)")
        let named = MessagePortError(.name, nameError: name)
        #expect(named.nameError == name && named.systemError == nil && "\(named)" == "\(name)")
        let refused = MessagePortError(.system, systemError: Self.system)
        #expect(refused.systemError == Self.system && refused.nameError == nil)
        let large = MessagePortError(.tooLarge, limit: 7)
        #expect(large.limit == 7 && "\(large)" == "the message is longer than 7 bytes")
        #expect(MessagePortError(.timedOut).limit == nil)
    }

    @Test func `an error of a center`() {
        let port = MessagePortError(.timedOut)
        #expect(DistributedNotificationError(.port, portError: port).portError == port)
        #expect(DistributedNotificationError(.system, systemError: Self.system).systemError == Self.system)
        #expect(DistributedNotificationError(.tooLarge, limit: 7).limit == 7)
        let malformed = DistributedNotificationError(.malformed, details: "no name")
        #expect(malformed.details == "no name" && malformed.limit == nil)
    }
}
