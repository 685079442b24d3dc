import MessagePorts
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedMessagePortTests {
    /// Adds a port and a remote port to two modes of the current loop.
    ///
    /// - Returns: The lines at which they were made.
    private static func fill(_ names: PortNames) throws -> [Int] {
        let name = try PortName("unserved")
        let (port, line) = (try MessagePort(named: name, in: names), #line)
        let (remote, other) = (try RemotePort(connectingTo: name, in: names), #line)
        for mode in [RunLoop.Mode.default, RunLoop.Mode("other")] {
            try RunLoop.current.add(port, forMode: mode) { _ in }
            try RunLoop.current.add(remote, forMode: mode) { _ in }
        }
        return [line, other]
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test func `ports that were never served are reported once, with their places`() async {
        await #expect(processExitsWith: .success) {
            let directory = try ScratchDirectory()
            let names = PortNames(directory: directory.path)
            let added = Log<[Int]>()
            let lines = try unservedLines { added.add(try UnservedMessagePortTests.fill(names)) }
            #expect(lines.count == 2, "\(lines)")
            for (words, line) in zip([" message port", " remote port"], added.entries[0]) {
                let text = "\(words) made at MessagePortsTests/UnservedMessagePortTests.swift:\(line);"
                #expect(lines.filter { $0.contains(text) }.count == 1, "\(text): \(lines)")
            }
            try directory.remove()
        }
    }
}
