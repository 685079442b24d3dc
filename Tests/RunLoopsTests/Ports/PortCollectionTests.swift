import TestSupport
import Testing

@testable import RunLoops

/// Collections whose number of elements differs from their count, sent to a port.
@Suite struct PortCollectionTests {
    /// A collection that reports one number of elements and yields another.
    private struct Lying<Element: Sendable>: Collection {
        let endIndex: Int
        let elements: [Element]

        init(claiming count: Int, _ elements: [Element]) {
            endIndex = count
            self.elements = elements
        }

        var startIndex: Int { 0 }
        subscript(index: Int) -> Element { elements[index] }
        func index(after index: Int) -> Int { index + 1 }
        func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
    }

    /// Checks that a port with a limit of ten is empty: it accepts ten messages, and no more.
    private func expectRoomForTen(_ port: Port<Int>, _ receiver: ManualReceiver<Int>) throws {
        for number in 0..<10 { try port.send(number, before: .distantPast) }
        #expect(throws: PortSendError<Int>.self) { try port.send(10, before: .distantPast) }
        #expect(receiver.receiveAll() == Array(0..<10))
    }

    // Guarantees: Each message that a collection gives to `send(contentsOf:before:)` is sent or given back, whatever count the
    // collection reports.
    @Test(arguments: [0, 1, 4, 10, 1_000], [0, 1, 3, 5, 10, 25])
    func `each message that a collection gives is sent or given back, whatever count it claims`(
        claimed: Int, given: Int
    )
        throws
    {
        let port = Port<Int>(queueLimit: 10)
        let receiver = ManualReceiver(port)
        for _ in 0..<20 {
            var back: [Int] = []
            do throws(PortSendError<Int>) {
                try port.send(
                    contentsOf: Lying(claiming: claimed, Array(0..<given)), before: .distantPast)
            } catch {
                #expect(error.reason == .timedOut)
                back = error.messages
            }
            let received = receiver.receiveAll()
            #expect(received.count == min(given, 10))
            #expect(received + back == Array(0..<given))
        }
        try expectRoomForTen(port, receiver)
    }

    @Test func `a lazy filter that is not repeatable costs no room`() throws {
        let port = Port<Int>(queueLimit: 10)
        let receiver = ManualReceiver(port)
        var looks = 0
        let numbers = (0..<4).lazy.filter { _ in
            looks += 1
            return looks % 5 != 0
        }
        for _ in 0..<40 {
            try port.send(contentsOf: numbers, before: .distantPast)
            #expect(receiver.receiveAll().count <= 4)
        }
        // Each element was examined once each time that it could be sent.
        #expect(looks == 160)
        try expectRoomForTen(port, receiver)
    }

    @Test(arguments: [2, 9]) func `each message of such a collection is destroyed once`(claimed: Int) throws {
        let alive = Shared()
        do {
            let port = Port<Counted>(queueLimit: 3)
            let messages = (0..<5).map { _ in Counted(alive) }
            let error = #expect(throws: PortSendError<Counted>.self) {
                try port.send(contentsOf: Lying(claiming: claimed, messages), before: .distantPast)
            }
            #expect(error?.messages.count == 2)
            port.invalidate()
            let all = #expect(throws: PortSendError<Counted>.self) {
                try port.send(contentsOf: Lying(claiming: claimed, messages))
            }
            #expect(all?.messages.count == 5)
        }
        #expect(alive.count == 0)
    }

    @Test func `signals of such a collection are one signal, if it gives any`() throws {
        let port = Port<Void>()
        try port.send(contentsOf: Lying(claiming: 3, [Void]()))
        let isRungByNone = port.core.bell.isRung
        #expect(!isRungByNone)
        try port.send(contentsOf: Lying(claiming: 0, [()]))
        let isRung = port.core.bell.isRung
        #expect(isRung)
        port.invalidate()
        let error = #expect(throws: PortSendError<Void>.self) {
            try port.send(contentsOf: Lying(claiming: 1, [(), (), ()]))
        }
        #expect(error?.messages.count == 3)
    }
}
