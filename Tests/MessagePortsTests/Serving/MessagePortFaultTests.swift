import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Ports for which the kernel refuses a system call.
@Suite struct MessagePortFaultTests {
    @Test func `a port for which there are too few descriptors throws, and leaves none open`() async {
        await #expect(processExitsWith: .success) {
            let names = try OwnNames()
            let bound = try boundOfDescriptors()
            let most = 16
            for free in 0...most {
                let code = refusal(bound, free: free) { try makePort(names) }
                #expect(openDescriptors(from: bound) == 0)
                if code == nil { return }
                #expect(code == EMFILE)
            }
            Issue.record("a port needs no more than \(most)")
        }
    }

    @Test
    func `a client that connects while no descriptor is left waits, and is served when there is one`()
        async
    {
        await #expect(processExitsWith: .success) {
            let server = try PortServer(nil, nil)
            let socket = try server.names.names.connect(to: server.name, before: .hang)
            _ = socket.send(Frame(.hello, limits: Frame.Limits(bodyLength: 0, descriptorCount: 0)))
            // A loop opens a descriptor for its first source.
            let number = socket.descriptor
            try server.onThread { loop in
                let source = DescriptorSource(number, interest: .read) { _, _ in }
                try loop.add(source, forMode: RunLoop.Mode("never run"))
            }
            let bound = try boundOfDescriptors()
            _ = refusal(bound, free: 0) {
                try server.serve { _ = $0.id }
                waitUntil("there is none for it") { server.port.statistics.lackingDescriptors > 1 }
            }
            waitUntil("it is admitted") { server.port.statistics.admittedPeers == 1 }
            // The port tries again after a pause, and does not spin.
            #expect(server.port.statistics.lackingDescriptors < 20)
            _ = socket.descriptor
        }
    }
}

/// Makes a port, and throws the underlying error of the kernel.
private func makePort(_ names: OwnNames) throws {
    let name = try PortName("swept")
    do throws(MessagePortError) {
        _ = try MessagePort(named: name, in: names.names)
    } catch {
        if let refusal = error.systemError ?? error.nameError?.systemError { throw refusal }
        throw error
    }
}
