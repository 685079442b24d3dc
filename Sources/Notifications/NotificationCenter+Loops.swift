public import RunLoops

extension NotificationCenter {
    /// Registers a handler that is called on the thread of a loop, whichever thread posts.
    ///
    /// A post does not wait for the call. A handler that is registered twice is called twice. A registered handler alone does
    /// not keep a run of the loop going.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one. The center
    ///     does not keep the object alive, but a notification that waits keeps its own object alive. After the object has been
    ///     destroyed, no further notification is accepted for the handler.
    ///   - loop: The loop on whose thread the handler is called.
    ///   - modes: The modes in which the handler may be called; at least one.
    ///   - capacity: The limit on the notifications that may wait, and the policy for notifications beyond the limit.
    ///   - handler: Called on the loop's thread, and destroyed there unless the thread has ended by then.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///   Notifications that are still waiting at that moment are discarded.
    ///
    /// > Thread safety: any thread.
    public func addObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)? = nil, on loop: RunLoop,
        inModes modes: [RunLoop.Mode] = [.common], capacity: NotificationCenter.Capacity = .unlimited,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObservationToken {
        redirect(name, object, loop, modes, capacity, handler)
    }

    func redirect(
        _ name: Notification.Name?, _ object: (any AnyObject & Sendable)?, _ loop: RunLoop,
        _ modes: [RunLoop.Mode],
        _ capacity: NotificationCenter.Capacity, _ handler: @escaping (Notification) -> Void
    ) -> ObservationToken {
        if modes.isEmpty {
            fatalError(
                "NotificationCenter.addObserver: no mode, so the handler would never be called; use [.common]"
            )
        }
        let target = RedirectedObserver(.of(loop), modes, capacity, handler)
        let registration = register(name, object, target: target) { target.take($0) }
        target.setRegistration(registration)
        return ObservationToken(registration)
    }
}

extension RunLoop {
    /// Registers a handler that this loop's thread calls; the handler can capture objects that are confined to that thread.
    ///
    /// Otherwise the same as ``NotificationCenter/addObserver(forName:object:on:inModes:capacity:using:)``.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one.
    ///   - center: The center to observe.
    ///   - modes: The modes in which the handler may be called; at least one.
    ///   - capacity: The limit on the notifications that may wait, and the policy for notifications beyond the limit.
    ///   - handler: Called on the loop's thread, and destroyed there unless the thread has ended by then. The handler need not
    ///     be `@Sendable`.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///   Notifications that are still waiting at that moment are discarded. Any thread may hold the token and remove it.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        in center: NotificationCenter = .default, inModes modes: [RunLoop.Mode] = [.common],
        capacity: NotificationCenter.Capacity = .unlimited,
        using handler: @escaping (Notification) -> Void
    ) -> ObservationToken {
        if !isCurrent {
            fatalError(
                "RunLoop.addObserver: called outside the loop's own thread; use NotificationCenter.addObserver(forName:object:on:)"
            )
        }
        return center.redirect(name, object, self, modes, capacity, handler)
    }
}

extension RunLoop {
    /// The number of notifications that were discarded because the loop has ended, summed over all observers on the loop.
    ///
    /// The count includes the notifications that had been posted, but not delivered, when the loop ended. An observer that had no
    /// such notification stays registered until the next post for it. That post is counted, and removes the observer, so later
    /// posts are not counted.
    ///
    /// > Thread safety: any thread.
    public var undeliveredNotificationCount: Int { undeliveredCount }
}
