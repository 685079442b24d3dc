import DistributedNotifications
import RunLoops
import Testing

/// Each rule that a caller may break ends the program with a message.
struct CenterMisuseTests {
    @Test func `a capacity lets something wait`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DistributedNotificationCenter.Capacity.bounded(0, .dropOldest)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("lets nothing wait"))
    }

    @Test func `a start is no negative number`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = DistributedNotificationCenter.Start.last(-1)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("is negative; use 0 or more"))
    }

    @Test func `a payload fits a packet`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DistributedNotificationCenter.Options()
            options.payloadLimit = 98_305
            _ = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("bytes do not fit"))
    }

    @Test func `a center has room for a post`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DistributedNotificationCenter.Options()
            options.keptPostLimit = 0
            _ = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("leave no room for a post"))
    }

    @Test func `a center has a topic`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DistributedNotificationCenter.Options()
            options.topicLimit = 0
            _ = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("is out of range; use 1 to 65536"))
    }

    @Test func `an observer that holds has room`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DistributedNotificationCenter.Options()
            options.heldNotificationLimit = 0
            _ = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("holds nothing"))
    }

    @Test func `a time is more than none`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var options = DistributedNotificationCenter.Options()
            options.reconnectTimeout = .zero
            _ = try DistributedNotificationCenter(InProcessNotificationHub().engine, options: options)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("is none; use some seconds"))
    }

    @Test func `an observer has a mode`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = try DistributedNotificationCenter(InProcessNotificationHub().engine)
            _ = center.addObserver(forName: nil, on: .main, inModes: []) { _ in }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("the handler would never be called"))
    }

    @Test func `a center has no more observers than a hub serves`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = try DistributedNotificationCenter(InProcessNotificationHub().engine)
            let observations = (0...16_384).map { _ in
                center.addObserver(forName: "a", on: .current) { _ in }
            }
            withExtendedLifetime(observations) {}
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("call several handlers from one observer"))
    }
}
