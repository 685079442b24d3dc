import TestSupport
import Testing

/// The way in which a sender and a receiver see each other at a full port, in every order.
@Suite struct RoomModelTests {
    @Test(arguments: [(1, 1, 26), (2, 1, 52), (1, 2, 165), (2, 2, 292), (3, 2, 438), (3, 3, 3115)])
    func `no sender sleeps beside room, whatever the order`(messages: Int, senders: Int, states: Int) {
        let found = RoomModel(messages: messages, senders: senders).explore()
        #expect(found.failures.isEmpty)
        #expect(found.stateCount == states)
    }

    @Test(arguments: RoomModel.Fault.allCases) func `a fault is found`(fault: RoomModel.Fault) {
        let found = RoomModel(messages: 2, senders: 2, fault: fault).explore()
        #expect(found.failures == ["a sender sleeps beside room"])
    }
}
