package import RunLoops

/// The connection of one center with the other centers: it carries posts, and keeps no promise of its own about them.
///
/// Numbering, retention, de-duplication, gaps and doubt are above it, in the center, and are the same for every engine. An
/// engine says what it has accepted, what it has settled, and what it knows to be missing.
///
/// A center makes its engine on the thread of its own loop, calls it there only, and expects every call of the ``EngineSink``
/// there. So an engine needs no lock. No method blocks. The engine may call the sink during ``start(_:_:)`` and later, but not
/// during ``publish(_:)``, ``announce(_:)``, ``subscribe(_:)``, ``unsubscribe(_:)``, ``locate(_:)`` or ``confirm(_:credits:)``.
///
/// After each ``EngineSink/state(_:epoch:)`` with ``ConnectionState/connected``, the center calls, in this order: `announce` with
/// the opening horizons, `locate` with the posters that it knows, `subscribe` with all its subscriptions, and `publish` with all
/// posts that are not settled. The engine forgets all of them when the connection ends.
package protocol Engine: AnyObject {
    /// Begins to connect, and to connect again whenever the connection ends.
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

    /// Hands over the horizons of this poster, which go the way of the posts, in order with them.
    ///
    /// - Parameter announcement: The horizons. Never refused: there are at most as many as the poster has topics.
    func announce(_ announcement: Announcement)

    /// Adds subscriptions.
    ///
    /// For each, the engine delivers the posts that its start asks for, then one ``EngineBatch/Item/baseline(_:)`` that is the last of
    /// its subscription. From then on it delivers every matching post.
    func subscribe(_ subscriptions: [Subscription])

    /// Removes subscriptions by their numbers.
    func unsubscribe(_ numbers: [UInt64])

    /// Asks for posters that the center knows from before.
    ///
    /// For each that it knows, the engine delivers ``EngineBatch/Item/present(_:)`` or ``EngineBatch/Item/ended(_:)``. The
    /// others it reports when it hears of them, as it does with every poster once there is a subscription. An engine whose
    /// store survives its own end may report all of them as present.
    func locate(_ posters: [PosterID])

    /// Confirms batches.
    ///
    /// - Parameters:
    ///   - batch: The number of the newest batch that was taken. All before it were taken, too.
    ///   - credits: The number of posts that the center takes beyond it.
    func confirm(_ batch: UInt64, credits: Int)

    /// Ends the engine, and says that the poster ends with this number.
    ///
    /// The sink is not called any more. What was handed over is still sent if that is possible without waiting.
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
    /// The engine has no room, and says ``EngineSink/room()`` when it has.
    case full
    /// The engine is not connected.
    case away
}

/// The center, as its engine sees it.
package protocol EngineSink: AnyObject {
    /// Reports a change of the connection.
    ///
    /// - Parameters:
    ///   - state: The new state: connecting, connected, away or ended. The center itself finds out about `stalled`.
    ///   - epoch: The incarnation that the engine is connected with; nil unless connected. The store of another epoch is
    ///     another one: nothing that the last one had is known to be in it.
    func state(_ state: ConnectionState, epoch: Epoch?)

    /// Reports how far this poster's posts have come.
    ///
    /// - Parameters:
    ///   - accepted: The number up to which the engine has all posts.
    ///   - settled: The number up to which every matching connection has confirmed each post, or was given a gap.
    func acknowledged(accepted: UInt64, settled: UInt64)

    /// Reports that posts can be handed over again.
    func room()

    /// Delivers, in order.
    func deliver(_ batch: EngineBatch)
}

/// A maker of engines, which a center calls on the thread of its loop.
package typealias EngineMaker =
    @Sendable (_ loop: RunLoop) throws(DistributedNotificationError) -> any Engine
