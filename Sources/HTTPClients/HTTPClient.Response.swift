public import HTTPTypes

extension HTTPClient {
    /// A response: its header and its body.
    ///
    /// A task can begin to read the body before the whole body was received.
    ///
    /// > Thread safety: the thread of the client's loop only.
    public struct Response {
        /// The header of the response.
        public let head: ResponseHead

        /// The body of the response, which is received as fast as the task reads it.
        public let body: Body

        /// The status of the response.
        public var status: HTTPResponse.Status { head.status }

        /// The fields of the header; see ``HTTPClient/ResponseHead/headerFields``.
        public var headerFields: HTTPFields { head.headerFields }
    }
}

extension HTTPClient.Response {
    /// The body of a response, which a task on the thread of the client's loop reads piece by piece.
    ///
    /// The transfer receives ahead of the task. At 128 KiB of unread bytes, it stops receiving until the task has read them all, so a
    /// slow task makes the server wait.
    ///
    /// If you release the body before its end was received, the transfer is cancelled. A body can be read only once.
    ///
    /// > Thread safety: the thread of the client's loop only.
    public struct Body: AsyncSequence {
        /// A piece of the body: one or more bytes.
        public typealias Element = [UInt8]
        /// The error that the iteration throws.
        public typealias Failure = HTTPClientError

        let reader: BodyReader

        /// Creates an iterator.
        ///
        /// - Returns: The iterator, which continues where an earlier iterator of this body has stopped.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

        /// Reads the rest of the body.
        ///
        /// - Parameter limit: The maximum number of bytes to read.
        /// - Returns: The bytes that no iterator has read before.
        /// - Throws: ``HTTPClientError`` if the transfer ends before the body is complete. If more bytes than the limit are left, its
        ///   reason is ``HTTPClientError/Reason/bodyTooLarge``, and the transfer is cancelled.
        nonisolated(nonsending) public func bytes(upTo limit: Int = .max) async throws(HTTPClientError)
            -> [UInt8]
        {
            var bytes: [UInt8] = []
            var iterator = makeAsyncIterator()
            while let piece = try await iterator.next(isolation: #isolation) {
                if piece.count > limit - bytes.count {
                    reader.transfer.cancel()
                    throw .bodyTooLarge(limit: limit)
                }
                if bytes.isEmpty { bytes = piece } else { bytes += piece }
            }
            return bytes
        }

        /// Reads the rest of the body as UTF-8.
        ///
        /// - Parameter limit: The maximum number of bytes to read.
        /// - Returns: The text. Invalid bytes are repaired.
        /// - Throws: ``HTTPClientError`` if the transfer ends before the body is complete. If more bytes than the limit are left, its
        ///   reason is ``HTTPClientError/Reason/bodyTooLarge``, and the transfer is cancelled.
        nonisolated(nonsending) public func text(upTo limit: Int = .max) async throws(HTTPClientError)
            -> String
        {
            String(decoding: try await bytes(upTo: limit), as: UTF8.self)
        }

        /// The iteration over the pieces of a body.
        ///
        /// > Thread safety: the thread of the client's loop only.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let reader: BodyReader

            /// Awaits the next piece of the body.
            ///
            /// If the task is cancelled during the wait, the transfer is cancelled.
            ///
            /// - Parameter actor: The isolation of the caller.
            /// - Returns: The bytes, or nil at the end of the body.
            /// - Throws: ``HTTPClientError`` if the transfer ends before the body is complete. The bytes that were received until then
            ///   are returned first.
            public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPClientError)
                -> [UInt8]?
            {
                while true {
                    if let bytes = reader.take() {
                        // Decoding can make much of a few bytes. Others have their turn on the loop meanwhile.
                        if reader.isDueToYield { await Task.yield() }
                        return bytes
                    }
                    if let result = reader.transfer.result {
                        if let error = result { throw error }
                        return nil
                    }
                    await reader.wait(isolation: actor)
                }
            }

            /// Awaits the next piece of the body.
            ///
            /// If the task is cancelled during the wait, the transfer is cancelled.
            ///
            /// - Returns: The bytes, or nil at the end of the body.
            /// - Throws: ``HTTPClientError`` if the transfer ends before the body is complete. The bytes that were received until then
            ///   are returned first.
            nonisolated(nonsending) public mutating func next() async throws(HTTPClientError) -> [UInt8]? {
                try await next(isolation: #isolation)
            }
        }
    }
}

@available(*, unavailable)
extension HTTPClient.Response: Sendable {}
@available(*, unavailable)
extension HTTPClient.Response.Body: Sendable {}
@available(*, unavailable)
extension HTTPClient.Response.Body.AsyncIterator: Sendable {}
