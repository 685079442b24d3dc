import Glibc
import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The code of the article "Two processes and a descriptor", in a process of its own, which has the user's names to itself.
@Suite struct HandingOverDescriptorsSnippets {
    @Test func `a broker opens files for a process that may not open them itself`() async {
        await #expect(processExitsWith: .success) {
            try withOwnNames { try HandingOverDescriptorsSnippets().open() }
        }
    }

    private func open() throws {
        let server = try RunLoopThread(name: "broker")
        @Sendable func serve() throws {
            let readable: Set<String> = ["/proc/self/comm"]
            let broker = try MessagePort(named: PortName("org.example.broker")) { $0.isOfThisUser }
            try RunLoop.current.add(broker, forMode: .common) { message in
                let path = String(decoding: message.bytes, as: UTF8.self)
                let number = readable.contains(path) ? unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC) : -1
                do {
                    if number < 0 { return try message.reply(Array("refused".utf8)) }
                    // Ours is closed here: the kernel duplicates it into the reply.
                    let file = OwnedDescriptor(number)
                    try message.reply([], descriptors: [file.descriptor])
                } catch {
                    print("no reply:", error)
                }
            }
        }
        try server.runLoop.performAndWait { try serve() }

        func openFile(_ path: String) throws -> OwnedDescriptor? {
            let broker = try RemotePort(named: PortName("org.example.broker"), descriptorLimit: 1)
            var reply = try broker.request(Array(path.utf8), before: .now + .seconds(60))
            return reply.descriptors.takeFirst()
        }

        switch try openFile("/proc/self/comm") {
        case .some(let file):
            var buffer = [UInt8](repeating: 0, count: 64)
            // Safe: the kernel fills a local array.
            let count = unsafe read(file.descriptor, &buffer, buffer.count)
            let isTheBrokers = count > 1 && file.descriptor > 2
            #expect(isTheBrokers)
        case nil: Issue.record("the broker has refused")
        }
        switch try openFile("/etc/passwd") {
        case .some: Issue.record("the broker has opened a file that is not in its list")
        case nil: break
        }
        server.stop()
    }
}
