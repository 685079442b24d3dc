import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedTransferTests {
    /// Makes a client on the current loop, with a number of transfers.
    ///
    /// - Returns: The line at which the client was made.
    private static func fill(_ transfers: Int) throws -> Int {
        let (client, line) = (try HTTPClient(), #line)
        for _ in 0..<transfers { client.start(HTTPClient.Request("http://127.0.0.1:1/")) { _ in } }
        return line
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test(arguments: [0, 1, 3])
    func `a client whose transfers were never served is reported once, with its place`(count: Int) async {
        await #expect(processExitsWith: .success) { [count] in
            let added = Log<Int>()
            let lines = try unservedLines { added.add(try UnservedTransferTests.fill(count)) }
            #expect(lines.count == min(count, 1), "\(lines)")
            let place = "made at HTTPClientsTests/UnservedTransferTests.swift:\(added.entries[0]);"
            #expect(lines.allSatisfy { $0.contains(place) }, "\(lines)")
        }
    }
}
