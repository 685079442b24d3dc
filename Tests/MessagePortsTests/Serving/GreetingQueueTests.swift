import Testing

@testable import MessagePorts
@testable import RunLoops

/// The deadlines of connections that have not yet greeted.
@Suite struct GreetingQueueTests {
    @Test func `the first accepted connection is the first to be late`() {
        var greetings = GreetingQueue()
        #expect(greetings.nextDeadline == nil)
        greetings.append(2, deadline: Moment(nanoseconds: 10))
        greetings.append(3, deadline: Moment(nanoseconds: 20))
        #expect(greetings.takeLate(now: Moment(nanoseconds: 9)) == nil)
        #expect(greetings.nextDeadline == Moment(nanoseconds: 10))
        #expect(greetings.takeLate(now: Moment(nanoseconds: 15)) == 2)
        #expect(greetings.takeLate(now: Moment(nanoseconds: 15)) == nil)
        #expect(greetings.takeLate(now: Moment(nanoseconds: 20)) == 3)
        #expect(greetings.nextDeadline == nil)
    }
}
