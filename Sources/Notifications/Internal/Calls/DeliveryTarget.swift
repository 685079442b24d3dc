/// The interface of an observer on a loop to the observation that passes notifications to it.
protocol DeliveryTarget: AnyObject, Sendable {
    /// The observation whose handler is called on the loop's thread.
    var observation: Observation { get }

    /// The numbers of this observer's notifications that were delivered, dropped and left undelivered.
    var counts: NotificationRedirector.Counts { get }

    /// Ends the observation on the loop, and discards the notifications that wait for it.
    func remove()

    /// Keeps the target alive until every delivery that was sent to it has arrived or was discarded.
    func outliveDeliveries()
}
