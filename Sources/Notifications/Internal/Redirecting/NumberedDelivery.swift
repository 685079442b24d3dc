/// A delivery on its way to a loop, for an observer with limited capacity.
///
/// The delivery carries a number, but no notification. When it arrives, ``BoundedDeliveryQueue`` decides which notifications the
/// handler gets.
struct NumberedDelivery: ~Copyable, Sendable {
    private let observer: RedirectedObserver
    private let number: Int

    init(_ number: Int, to observer: RedirectedObserver) {
        self.observer = observer
        self.number = number
    }

    /// Ends the delivery that is stored at an address.
    ///
    /// `hasArrived` is true if the delivery has arrived. It is false if the delivery was discarded when the loop ended.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address at which it was stored, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: NumberedDelivery.self).move()
        if hasArrived {
            delivery.observer.deliver(upTo: delivery.number)
        } else {
            delivery.observer.wasDiscarded(upTo: delivery.number)
        }
    }
}
