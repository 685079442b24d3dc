/// A delivery on its way to an observer with a capacity: ``BoundedDeliveryQueue`` decides what it delivers when it arrives.
struct NumberedDelivery: ~Copyable, Sendable {
    private let observer: RedirectedObserver
    private let number: Int

    init(_ number: Int, to observer: RedirectedObserver) {
        self.observer = observer
        self.number = number
    }

    /// Ends the delivery at an address: it has arrived, or was discarded because the loop has ended.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address where it was put, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: NumberedDelivery.self).move()
        if hasArrived {
            delivery.observer.deliver(upTo: delivery.number)
        } else {
            delivery.observer.wasDiscarded(upTo: delivery.number)
        }
    }
}
