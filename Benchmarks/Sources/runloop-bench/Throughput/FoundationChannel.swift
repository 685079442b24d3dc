/// Isolates Foundation's `perform` with a closure that captures one object; each is followed by a
/// `CFRunLoopWakeUp`, because a sender cannot know whether the loop sleeps.
final class FoundationChannel: MessageChannel {
    private let loop = FoundationLoop()
    private let parcels: [Parcel]

    init(sink: Sink) { parcels = Parcel.each(for: sink) }

    var consumerThreads: [ThreadNumber] { [loop.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let parcel = parcels[producer]
        for _ in 0..<count { loop.perform { parcel.arrive() } }
        return count &* parcel.value
    }
}
