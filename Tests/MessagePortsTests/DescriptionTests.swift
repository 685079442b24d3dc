import Testing

@testable import MessagePorts
@testable import RunLoops

/// Descriptions of values.
@Suite struct DescriptionTests {
    @Test func `descriptions of names and peers are readable`() {
        #expect("\(PortNames(directory: "/srv/names"))" == "names in /srv/names")
        let credentials = PeerCredentials(processID: 1, userID: 2, groupID: 3)
        #expect(
            "\(MessagePort.Peer(id: 4, credentials: credentials))"
                == "process 1 of user 2, group 3, connection 4")
    }
}
