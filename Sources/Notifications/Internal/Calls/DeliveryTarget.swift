/// An observer that gets notifications from its observation, and whose handler is called on a loop.
protocol DeliveryTarget: AnyObject, Sendable {
    /// The observation whose handler is called on the loop's thread.
    var observation: Observation { get }

    /// The counts of the delivered, the dropped and the undelivered notifications of this observer.
    var counts: ObservationToken.Statistics { get }

    /// Ends the observation on the loop, and discards the notifications that wait for it.
    func remove()

    /// Keeps the target alive until every delivery that was sent to it has arrived or was discarded.
    func outliveDeliveries()
}
