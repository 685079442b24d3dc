extension Port {
    /// The messages of the port, for a task that receives them one by one, without a loop.
    ///
    /// ```swift
    /// for await order in orders.messages { await serve(order) }
    /// ```
    ///
    /// Messages that were sent before are received, too. From the beginning of the iteration until its end, the task is the
    /// port's one receiver. The iteration ends when the port ends, when the task is cancelled, and when the loop is left.
    ///
    /// > Thread safety: any thread.
    public var messages: Messages { Messages(port: self) }

    /// The messages of a port, in the order in which they were sent.
    ///
    /// A port has one receiver at a time. If the port is in a loop, in a set or in another iteration, beginning an iteration ends
    /// the program with a message, and so does adding a port to a loop or a set while it is iterated over.
    ///
    /// Cancelling the task ends the iteration at the next call of `next()`, and loses no message: those that were not received
    /// stay in the port, for its next receiver. The sequence and its iterators hold the port.
    ///
    /// A port of signals gives one element for the signals since the last one. Notices of missing senders are not received:
    /// ``Port/onNoSenders(_:)`` is for loops.
    ///
    /// > Thread safety: a value.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = Message
        /// No error is thrown.
        public typealias Failure = Never

        fileprivate let port: Port

        /// Begins an iteration: the port has a receiver from now on.
        ///
        /// - Returns: An iterator over the messages.
        public func makeAsyncIterator() -> Iterator { Iterator(PortReception(port, port.core)) }

        /// Receives the messages of a port.
        ///
        /// The iteration ends with the last copy of its iterator, if it has not ended before.
        ///
        /// > Thread safety: one task.
        public struct Iterator: AsyncIteratorProtocol {
            @usableFromInline let reception: PortReception

            fileprivate init(_ reception: PortReception) { self.reception = reception }

            /// Awaits the next message.
            ///
            /// - Returns: The message; nil if the port has ended or the task was cancelled, and from then on.
            public mutating func next() async -> Message? { await next(isolation: #isolation) }

            /// Awaits the next message.
            ///
            /// - Parameter actor: The actor that the caller is isolated to.
            /// - Returns: The message; nil if the port has ended or the task was cancelled, and from then on.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
                guard let slot = await reception.next(isolation: actor) else { return nil }
                let message = slot.move(Message.self)
                reception.finishTaking()
                return message
            }
        }
    }
}

@available(*, unavailable)
extension Port.Messages.Iterator: Sendable {}
