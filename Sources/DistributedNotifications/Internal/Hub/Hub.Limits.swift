extension Hub {
    /// The limits of a hub's memory.
    struct Limits: Hashable, Sendable {
        /// The maximum number of posts to keep.
        ///
        /// Observers that connect again, or that ask for earlier posts, get the posts that are kept.
        var ringPosts = 32_768
        var ringBytes = 33_554_432
        /// The maximum number of bytes for the subscriptions, topics and queues of all processes; see ``HubShares``.
        var bytes = 268_435_456
        /// The maximum number of posts that may wait for one connection.
        var queuedPosts = 4_096
        var queuedBytes = 1_048_576
        /// The maximum number of events, posts included, that may wait for one connection before the connection is closed.
        var queuedEvents = 65_536
        /// The maximum number of bytes, in addition to ``queuedBytes``, that may wait before the connection is closed.
        var queuedEventBytes = 8_388_608
        /// The maximum number of posts that were sent to a connection and that it has not confirmed.
        var unconfirmedPosts = 1_024
        /// The maximum number of topics for which the hub records the posts that one connection has missed.
        ///
        /// If a connection has missed posts of more topics, the hub later checks all topics that the connection subscribes to.
        var missedTopics = 1_024
        /// The size in bytes at which a batch is complete.
        ///
        /// A post that would exceed this size goes into the next batch, unless it is the first item of a batch.
        var batchBytes = 60_000
        /// The number of steps after which a batch is complete: an item is one step, and a mark of a survey is
        /// ``HubSurvey/stepsOfMark``.
        var batchSteps = 1_024
        var subscriptions = 16_384
        var topics = 65_536
        /// The maximum number of ended posters that the hub remembers.
        var tombstones = 4_096
        /// The maximum number of topics that the hub remembers for all ended posters together.
        var tombstoneTopics = 65_536
        /// The maximum number of ended posters with lost posts of which observers are told one by one in an interval; see
        /// ``EndReports``.
        var endReports = 32
        /// The same for the posters of one process.
        var endReportsOfProcess = 4
    }
}
