import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The limit on the number of messages in a port.
@Suite struct PortQueueLimitTests {
    @Test func `a limit is a number or unlimited`() {
        #expect(PortQueueLimit(1).count == 1)
        #expect(PortQueueLimit(1_000_000).count == 1_000_000)
        #expect((16 as PortQueueLimit) == PortQueueLimit(16))
        #expect(PortQueueLimit.unlimited.count == nil)
        #expect(PortQueueLimit.unlimited != PortQueueLimit(1_000_000))
    }

    @Test func `a port reports its limit, which is 1024 by default`() {
        #expect(Port<Int>().queueLimit == 1024)
        #expect(Port<Int>(queueLimit: 3).queueLimit == 3)
        #expect(Port<Int>(queueLimit: .unlimited).queueLimit == .unlimited)
    }

    @Test(arguments: [1, 2, 3, 1_024]) func `a port holds as many messages as its limit says, and no more`(
        limit: Int
    ) throws {
        let port = Port<Int>(queueLimit: PortQueueLimit(limit))
        for number in 0..<limit { try port.send(number, before: .distantPast) }
        #expect(throws: PortSendError<Int>.self) { try port.send(limit, before: .distantPast) }
    }

    @Test(arguments: [0, -1, 1_000_001, .min, .max])
    func `a limit that a port cannot keep ends the program, and says what to use`(count: Int) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [count] in
            _ = PortQueueLimit(count)
        }
        let message = try #require(result).message
        #expect(message.contains("\(count) is not between 1 and 1,000,000; use .unlimited"))
    }
}
