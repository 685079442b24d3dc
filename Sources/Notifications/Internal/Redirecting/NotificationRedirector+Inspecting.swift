internal import RunLoops
internal import Synchronization

extension NotificationRedirector: Inspected {
    package var parts: [InspectedPart] {
        let observers = observerCount.load(ordering: .relaxed)
        if observers == 0 { return [] }
        return [
            InspectedPart(
                "notification observers", madeAt: nil,
                [
                    .init("observers", observers), .init("dropped", dropped.load(ordering: .relaxed)),
                    .init("undelivered", runLoop.undeliveredCount),
                ])
        ]
    }
}
