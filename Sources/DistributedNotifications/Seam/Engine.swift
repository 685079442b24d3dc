package import RunLoops

/// The connection of one center to the other centers, which carries posts and guarantees nothing about them.
///
/// Numbering, retention, de-duplication and gaps are the center's work, and the same for every engine. An engine reports the
/// posts that it has accepted, the posts that are settled, and the posts that it knows to be missing.
///
/// A center makes its engine on the thread of its own loop, calls it only there, and expects every call of the ``EngineSink``
/// there, too. So an engine needs no lock. No method blocks. The engine may call the sink during ``start(_:_:)`` and later, but not
/// during ``publish(_:)``, ``announce(_:)``, ``subscribe(_:)``, ``unsubscribe(_:)``, ``locate(_:)`` or ``confirm(_:credits:)``.
///
/// After each ``EngineSink/state(_:epoch:)`` with ``ConnectionState/connected``, the center calls, in this order: `announce` with
/// the opening horizons, `locate` with the posters that it knows, `subscribe` with all its subscriptions, and `publish` with all
/// posts that are not settled. The engine forgets all of them when the connection ends.
package protocol Engine: AnyObject {
    /// Begins to connect; from then on, the engine connects again whenever the connection ends.
    ///
    /// - Parameters:
    ///   - start: The identity of the center as a poster.
    ///   - sink: The center, which the engine holds weakly.
    func start(_ start: EngineStart, _ sink: any EngineSink)

    /// Hands over a post.
    ///
    /// Posts come in the order of their numbers. After ``Handed/full`` the center waits for ``EngineSink/room()``, after
    /// ``Handed/away`` for the next connection.
    func publish(_ post: Post) -> Handed

    /// Hands over horizons of this poster, which stay in order with its posts.
    ///
    /// - Parameter announcement: The horizons, at most two for each topic of the poster. They are never refused.
    func announce(_ announcement: Announcement)

    /// Adds subscriptions.
    ///
    /// For each subscription, the engine delivers the earlier posts that the start asks for, then one or more baselines
    /// (``EngineBatch/Item/baseline(_:)``), the last of which has ``Baseline/isLast``. From then on it delivers every matching
    /// post.
    func subscribe(_ subscriptions: [Subscription])

    /// Removes subscriptions by their numbers.
    func unsubscribe(_ numbers: [UInt64])

    /// Asks about posters that the center knows from an earlier connection.
    ///
    /// For each of them that the engine knows, it delivers ``EngineBatch/Item/present(_:)`` or ``EngineBatch/Item/ended(_:only:)``.
    /// It reports the others when it learns of them, as it does with every poster once there is a subscription.
    func locate(_ posters: [PosterID])

    /// Confirms batches.
    ///
    /// - Parameters:
    ///   - batch: The number of the newest batch that the center has taken; the center has taken all earlier batches, too.
    ///   - credits: The number of further posts that the center takes.
    func confirm(_ batch: UInt64, credits: Int)

    /// Ends the engine, and reports the number of the poster's last post.
    ///
    /// The engine does not call the sink after that. Posts that were handed over are still sent if that is possible without
    /// waiting.
    func end(lastNumber: UInt64)
}

/// The identity of a center as a poster, for its engine.
package struct EngineStart: Sendable {
    /// The poster.
    package let poster: PosterID
    /// The descriptor of a memory file whose first 8 bytes are the poster's last number, little-endian; nil if there is none.
    ///
    /// The number is stored before its post is handed over. The center keeps the descriptor open until the engine ends.
    package let numberFile: CInt?

    package init(poster: PosterID, numberFile: CInt?) {
        self.poster = poster
        self.numberFile = numberFile
    }
}

/// The result of handing a post to an engine.
package enum Handed: Hashable, Sendable {
    /// The engine has the post, and sends it.
    case taken
    /// The engine has no room, and calls ``EngineSink/room()`` when it has room again.
    case full
    /// The engine is not connected.
    case away
}

/// The interface of a center to its engine.
package protocol EngineSink: AnyObject {
    /// Reports a change of the connection.
    ///
    /// - Parameters:
    ///   - state: The new state: connecting, connected, away or ended. The center itself detects `stalled`.
    ///   - epoch: The identity of the store that the engine is connected with; nil unless connected. If the epoch differs from
    ///     the last one, the store is another one: nothing that the last store had is known to be in this store.
    ///   - sharesClock: True if all centers of the engine read the same clock, so that an observer can tell which posts are older
    ///     than its subscription.
    func state(_ state: ConnectionState, epoch: Epoch?, sharesClock: Bool)

    /// Reports the progress of this poster's posts.
    ///
    /// - Parameters:
    ///   - accepted: The number up to which the engine has all posts.
    ///   - settled: The number up to which every matching connection has confirmed each post, or was given a gap.
    ///   - exempt: The number up to which posts do not count against the limits of the center, because the engine itself limits
    ///     the accepted posts that are kept; if the engine has no such limit, the same number as `settled`.
    func acknowledged(accepted: UInt64, settled: UInt64, exempt: UInt64)

    /// Reports that posts can be handed over again.
    func room()

    /// Delivers the events of a batch, in order.
    func deliver(_ batch: EngineBatch)
}

extension EngineSink {
    /// Reports that the state of the connection has changed, for an engine whose centers share no clock.
    package func state(_ state: ConnectionState, epoch: Epoch?) {
        self.state(state, epoch: epoch, sharesClock: false)
    }
}

/// A maker of engines, which a center calls on the thread of its loop.
package typealias EngineMaker =
    @Sendable (_ loop: RunLoop) throws(DistributedNotificationError) -> any Engine
