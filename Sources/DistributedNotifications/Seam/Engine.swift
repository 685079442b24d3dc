package import RunLoops

/// The connection of one center to the other centers.
///
/// The engine carries posts, and guarantees nothing about them. The center numbers and keeps posts, recognizes
/// duplicates, and reports gaps, in the same way for every engine. An engine reports three groups of posts: the posts that it has
/// accepted, the posts that are settled (see ``EngineSink/acknowledged(accepted:settled:exempt:)``), and the posts that it knows to
/// be missing.
///
/// A center makes its engine on the thread of its own loop. It calls the engine only there, and expects every call of the
/// ``EngineSink`` there, too. So an engine needs no lock. No method blocks.
///
/// The engine may call the sink during ``start(_:_:)`` and later, but not during ``publish(_:)``, ``announce(_:)``,
/// ``subscribe(_:)``, ``unsubscribe(_:)``, ``locate(_:)`` or ``confirm(_:credits:)``.
///
/// Each time that the engine reports the state ``ConnectionState/connected``, the center makes these calls, in this order:
/// `announce` with the first ``Announcement`` of the connection, `locate` with the posters that the center knows, `subscribe` with
/// all its subscriptions, and `publish` with all posts that are not settled. When the connection ends, the engine forgets
/// everything that it got in these calls.
package protocol Engine: AnyObject {
    /// Begins to connect; from then on, the engine connects again whenever the connection ends.
    ///
    /// - Parameters:
    ///   - start: The facts about the center that the engine needs.
    ///   - sink: The center, which the engine holds weakly.
    func start(_ start: EngineStart, _ sink: any EngineSink)

    /// Hands a post to the engine.
    ///
    /// Posts come in the order of their numbers. If the result is ``Handed/full``, the center waits for ``EngineSink/room()``
    /// before it hands over more. If the result is ``Handed/away``, the center waits for the next connection.
    func publish(_ post: Post) -> Handed

    /// Hands the engine ``Horizon`` values of this poster.
    ///
    /// These values and the poster's posts stay in the order in which they were handed over.
    ///
    /// - Parameter announcement: The horizons, at most two for each topic of the poster. The engine never refuses them.
    func announce(_ announcement: Announcement)

    /// Adds subscriptions.
    ///
    /// For each subscription, the engine first delivers the earlier posts that ``Subscription/start`` asks for. Then it delivers
    /// one or more baselines (``EngineBatch/Item/baseline(_:)``). In the last baseline, ``Baseline/isLast`` is true. From then on,
    /// the engine delivers every matching post.
    func subscribe(_ subscriptions: [Subscription])

    /// Removes subscriptions by their numbers.
    func unsubscribe(_ numbers: [UInt64])

    /// Asks about posters that the center knows from an earlier connection.
    ///
    /// For each of these posters that the engine knows, it delivers ``EngineBatch/Item/present(_:)`` or
    /// ``EngineBatch/Item/ended(_:only:)``. For a poster that the engine does not know yet, it delivers one of these items later,
    /// when it learns of the poster. Once there is a subscription, the engine reports every poster in this way, even if the
    /// center has not asked about the poster.
    func locate(_ posters: [PosterID])

    /// Tells the engine which batches the center has taken, and how many more posts the center takes.
    ///
    /// - Parameters:
    ///   - batch: The number of the newest batch that the center has taken; the center has taken all earlier batches, too.
    ///   - credits: The maximum number of posts that the engine may deliver without a further confirmation.
    func confirm(_ batch: UInt64, credits: Int)

    /// Ends the engine, and reports the number of the poster's last post.
    ///
    /// The engine does not call the sink after that. Posts that were handed over are still sent if that is possible without
    /// waiting.
    func end(lastNumber: UInt64)
}

/// The facts about a center that its engine needs from the start.
package struct EngineStart: Sendable {
    /// The identity of the center as a poster.
    package let poster: PosterID
    /// The descriptor of a memory file that contains the number of the poster's last post; nil if there is none.
    ///
    /// The number is in the first 8 bytes, little-endian. It is stored before the post is handed to the engine. The
    /// center keeps the descriptor open until the engine ends.
    package let numberFile: CInt?
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

/// The interface through which an engine calls its center.
package protocol EngineSink: AnyObject {
    /// Reports a change of the connection.
    ///
    /// - Parameters:
    ///   - state: The new state: connecting, connected, away or ended. The center itself detects `stalled`.
    ///   - epoch: The identity of the store that the engine is connected to; nil unless connected. If the epoch differs from that
    ///     of the last connection, the engine is connected to a different store. This store can lack everything that the
    ///     previous store contained.
    ///   - sharesClock: True if all centers of the engine read the same clock, so that an observer can tell which posts are older
    ///     than its subscription.
    func state(_ state: ConnectionState, epoch: Epoch?, sharesClock: Bool)

    /// Reports the progress of this poster's posts.
    ///
    /// - Parameters:
    ///   - accepted: The number of a post. The engine has this post and all earlier posts.
    ///   - settled: The number of a post. This post and all earlier posts are settled: each matching connection has confirmed the
    ///     post, or the engine no longer waits for that confirmation.
    ///   - exempt: The number of a post. This post and all earlier posts do not count towards the limits of the center. If the
    ///     engine itself limits the center's accepted posts, it passes `accepted` here; otherwise it passes `settled`.
    func acknowledged(accepted: UInt64, settled: UInt64, exempt: UInt64)

    /// Reports that the engine takes posts again.
    ///
    /// The engine calls this after it has refused a post with ``Handed/full``.
    func room()

    /// Delivers the events of a batch, in order.
    func deliver(_ batch: EngineBatch)
}

extension EngineSink {
    /// Reports a change of the connection, for an engine whose centers do not read the same clock.
    package func state(_ state: ConnectionState, epoch: Epoch?) {
        self.state(state, epoch: epoch, sharesClock: false)
    }
}

/// A closure that makes an engine; the center calls it on the thread of the given loop.
package typealias EngineMaker =
    @Sendable (_ loop: RunLoop) throws(DistributedNotificationError) -> any Engine
