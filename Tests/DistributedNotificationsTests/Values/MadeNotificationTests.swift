import DistributedNotifications
import Testing

/// Notifications that a test makes for the code that it tests.
@Suite struct MadeNotificationTests {
    @Test func `a notification that a test makes has what it was made with`() {
        let poster = DistributedNotification.Poster()
        let made = DistributedNotification(
            name: "prices", sender: "shop", payload: [1, 2], poster: poster, number: 7,
            timeSince1970: .seconds(3))
        #expect(made.name == "prices")
        #expect(made.sender == "shop")
        #expect(made.payload == [1, 2])
        #expect(made.poster == poster)
        #expect(made.number == 7)
        #expect(made.timeSince1970 == .seconds(3))
        #expect(made.mergedCount == 0)
    }

    @Test func `notifications without a poster are those of different posters, and begin at number 1`() {
        let (first, second) = (DistributedNotification(name: "a"), DistributedNotification(name: "a"))
        #expect(first.poster != second.poster)
        #expect(first.poster != .unknown)
        #expect(first.number == 1)
        #expect(first.sender == nil)
        #expect(first.payload == [])
        #expect(DistributedNotification(name: "a", number: 0).number == 0)
    }
}
