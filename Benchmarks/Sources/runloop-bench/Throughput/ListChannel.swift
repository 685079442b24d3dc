internal import CYardsticks

/// The yardstick for ratios: a mutex-free list in C with one malloc per message.
///
/// Isolates what handing over one message costs when it is done well with common means.
final class ListChannel: MessageChannel, @unchecked Sendable {
    // Safe because the list is made for use by many threads, and the pointer never changes.
    private let list: OpaquePointer
    private let consumer = WorkerThread()

    init(sink: Sink) {
        guard let list = bench_list_create() else { fatalError("ListChannel.init: no memory or descriptors") }
        self.list = list
        consumer.run { [self] in
            bench_list_run(
                self.list,
                { context, value in
                    guard let context else { return }
                    Unmanaged<Sink>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.receive(Int(value)) }
                }, Unmanaged.passRetained(sink).toOpaque())
        }
    }

    var consumerThreads: [ThreadNumber] { [consumer.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for value in start..<start + count { bench_list_push(list, Int64(value)) }
        return sum(count, from: start)
    }
}
