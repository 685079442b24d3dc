internal import RunLoops

/// Isolates our `perform` with a closure that captures one object.
///
/// Read the ratios to SwiftNIO, Dispatch and Foundation: it is the same closure.
final class PerformChannel: MessageChannel {
    private let thread: RunLoopThread
    private let parcels: [Parcel]
    private let number: ThreadNumber

    init(sink: Sink) throws {
        parcels = Parcel.each(for: sink)
        thread = try RunLoopThread(name: "consumer")
        number = try thread.runLoop.performAndWait { ThreadNumber.current }
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let parcel = parcels[producer]
        let loop = thread.runLoop
        for _ in 0..<count { loop.perform { parcel.arrive() } }
        return count &* parcel.value
    }
}
