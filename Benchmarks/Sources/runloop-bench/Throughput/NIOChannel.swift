internal import NIOCore

/// Isolates SwiftNIO's `execute` with a closure that captures one object.
final class NIOChannel: MessageChannel {
    private let loop = NIOLoop()
    private let parcels: [Parcel]

    init(sink: Sink) { parcels = Parcel.each(for: sink) }

    var consumerThreads: [ThreadNumber] { [loop.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let parcel = parcels[producer]
        let loop = loop.loop
        for _ in 0..<count { loop.execute { parcel.arrive() } }
        return count &* parcel.value
    }
}
