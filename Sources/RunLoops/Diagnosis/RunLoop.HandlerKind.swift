extension RunLoop {
    /// The kind of input that a handler belongs to.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum HandlerKind: UInt8, Hashable, Sendable, CaseIterable {
        /// A block that was performed on the loop.
        case block = 1
        /// A job of an actor that lives on the loop, or of a task that prefers it.
        case job
        /// The handler of a timer, or a block that was performed after a delay.
        case timer
        /// The handler of a manual source.
        case manualSource
        /// The handler of a descriptor source, a signal source, a process source or a library source.
        case descriptor
        /// The handler of a port.
        case port
        /// The handler of an observer of the loop.
        case observer
        /// The handler of a notification observer, called on the loop.
        case delivery
        /// A run of the blocks that wait in the main dispatch queue.
        case mainQueue
        /// Work for the end of a pass or for an idle loop, such as posting the notifications of a notification queue.
        case deferredWork
        /// A handler that is called when the loop's thread ends: see ``RunLoop/addEndHandler(_:)``.
        case endHandler
    }
}

extension RunLoop.HandlerKind: CustomStringConvertible {
    /// The kind, in words.
    public var description: String {
        switch self {
        case .block: "block"
        case .job: "job"
        case .timer: "timer"
        case .manualSource: "manual source"
        case .descriptor: "source"
        case .port: "port"
        case .observer: "observer"
        case .delivery: "notification"
        case .mainQueue: "main queue"
        case .deferredWork: "deferred work"
        case .endHandler: "end handler"
        }
    }
}
