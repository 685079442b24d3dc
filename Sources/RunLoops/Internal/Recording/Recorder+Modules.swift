// The events that the other modules of the package report to the flight recorder. They check ``Recorder/isOn`` first.

extension Recorder {
    /// The minimum time between two recorded notifications of one thread, in microseconds.
    private static let notificationInterval: UInt64 = 10

    /// Records that a notification is about to be posted.
    ///
    /// - Parameters:
    ///   - name: The name of the notification.
    ///   - observers: The number of observers of this name, plus the number of observers that observe every name.
    @inline(never)
    package static func notePost(of name: String, observers: Int) {
        guard let ring else { return }
        let ticks = ring.ticks
        if !recordsEverything && ticks &- ring.own.lastNotification < notificationInterval * ring.microsecond
        {
            return
        }
        ring.own.lastNotification = ticks
        ring.write(
            RecordedEvent(
                .notification, end: ticks, place: RecordedPlaces.number(of: .text(name)), depth: ring.depth,
                number: observers))
    }

    /// Records that a notification is discarded, because an observer has no room for it.
    ///
    /// - Parameter origin: The source location at which the notification was made.
    package static func noteDrop(_ origin: SourceLocation) {
        note(.drop, RecordedPlaces.Place(origin), number: 1)
    }

    /// Records the source location of a notification as the place of its delivery.
    ///
    /// The delivery is the innermost event of the calling thread. If that event is not a delivery, this method does nothing.
    ///
    /// - Parameter origin: The source location at which the notification was made.
    @inline(never)
    package static func nameDelivery(_ origin: SourceLocation) {
        guard let ring, ring.innermost?.kind == .delivery else { return }
        ring.renameInnermost(ring.number(of: origin))
    }

    /// Records the beginning or the end of a connection to a port between processes.
    package static func noteConnection(to port: String, began: Bool) {
        note(.connection, .text(port), number: began ? 1 : 0)
    }
}
