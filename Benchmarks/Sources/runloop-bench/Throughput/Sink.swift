internal import Synchronization

/// Where every message ends, whatever brought it: counts them and adds their values up.
///
/// A message that is lost, or comes twice, shows in the count or in the sum.
final class Sink: @unchecked Sendable {
    // Safe because the sum has one writer, the consumer, and is read after a count that was stored after it.
    private let state: UnsafeMutablePointer<State>

    private struct State: ~Copyable {
        let received = Atomic<Int>(0)
        var sum = 0
    }

    init() {
        // Lines of its own: the producers look at the count while the consumer moves it.
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: State.self, capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        UnsafeMutableRawPointer(state).deallocate()
    }

    /// How many messages have come, since the program began.
    var received: Int { state.pointee.received.load(ordering: .acquiring) }

    /// What the values of those messages add up to.
    var sum: Int { state.pointee.sum }

    /// Takes a message: the consumer's thread calls it.
    @inline(__always)
    func receive(_ value: Int) {
        state.pointee.sum &+= value
        // One writer, so a load and a store will do.
        let received = state.pointee.received.load(ordering: .relaxed)
        state.pointee.received.store(received &+ 1, ordering: .releasing)
    }
}

/// The one object that a message's closure captures, where the message is a closure.
final class Parcel: Sendable {
    private let sink: Sink
    /// What it adds to the sum.
    let value: Int

    init(value: Int, sink: Sink) {
        self.value = value
        self.sink = sink
    }

    /// One parcel for each producer.
    static func each(for sink: Sink) -> [Parcel] {
        (0..<Rig.mostProducers).map { Parcel(value: $0 + 1, sink: sink) }
    }

    /// Delivers the message.
    @inline(__always)
    func arrive() { sink.receive(value) }
}
