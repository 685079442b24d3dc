extension Port {
    /// The messages of the port, as a sequence that a task receives without a run loop.
    ///
    /// ```swift
    /// for await order in orders.messages { await serve(order) }
    /// ```
    ///
    /// The task also receives the messages that were sent before the iteration. From the beginning of the iteration until its end,
    /// the task is the port's only receiver. The iteration ends when the port ends, when the task is cancelled, and when the task
    /// leaves the `for` loop.
    ///
    /// > Thread safety: any thread.
    public var messages: Messages { Messages(port: self) }

    /// The messages of a port, in the order in which they were sent.
    ///
    /// A port has one receiver at a time. If the port is in a loop, in a set or in another iteration, beginning an iteration ends
    /// the program with a message. During an iteration, adding the port to a loop or a set ends the program with a message, too.
    ///
    /// Cancelling the task ends the iteration at the next call of `next()`, and loses no message: all messages that were not
    /// received stay in the port, for its next receiver. The sequence and its iterators hold the port.
    ///
    /// A signal port yields one element for all signals since the last element. The iteration does not tell the task that no sender
    /// is left: ``Port/onNoSenders(_:)`` is for loops only.
    ///
    /// > Thread safety: a value.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = Message
        /// The error type: an iteration throws no error.
        public typealias Failure = Never

        fileprivate let port: Port

        /// Begins an iteration, and makes it the port's receiver.
        ///
        /// - Returns: An iterator over the messages.
        public func makeAsyncIterator() -> Iterator { Iterator(PortReception(port, port.core)) }

        /// Receives the messages of a port.
        ///
        /// If the iteration has not ended before, it ends when the last copy of its iterator is destroyed.
        ///
        /// > Thread safety: one task.
        public struct Iterator: AsyncIteratorProtocol {
            @usableFromInline let reception: PortReception

            fileprivate init(_ reception: PortReception) { self.reception = reception }

            /// Awaits the next message.
            ///
            /// - Returns: The message; nil after the port has ended or the task was cancelled.
            public mutating func next() async -> Message? { await next(isolation: #isolation) }

            /// Awaits the next message.
            ///
            /// - Parameter actor: The actor that the caller is isolated to.
            /// - Returns: The message; nil after the port has ended or the task was cancelled.
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
