public import RunLoops

extension HTTPClient {
    /// Sends a request, and awaits the header of its response.
    ///
    /// The calling task must run on the thread of the client's loop, for example on an actor that lives on that loop.
    ///
    /// ```swift
    /// let response = try await client.response(for: HTTPClient.Request("https://example.org/"))
    /// for try await bytes in response.body { print(bytes.count) }
    /// ```
    ///
    /// If the task is cancelled, the transfer is cancelled, and this method throws an error with ``HTTPClientError/Reason/cancelled``. If
    /// you release the response before the end of its body was received, the transfer is cancelled.
    ///
    /// - Parameters:
    ///   - request: The request. Its body must not be a stream.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: The response: its header, and its body, which is still to be read.
    /// - Throws: ``HTTPClientError`` if there is no response.
    nonisolated(nonsending) public func response(
        for request: Request, fileID: StaticString = #fileID, line: Int = #line
    ) async throws(HTTPClientError) -> Response {
        if case .stream = request.body {
            misuse(
                "HTTPClient.response: the body of the request is a stream; start a transfer, and write to it")
        }
        return try await answer(to: request, nil, SourceLocation(fileID, line))
    }

    /// Sends a request whose body is read from a descriptor, and awaits the header of its response.
    ///
    /// Apart from the body, this behaves like ``response(for:fileID:line:)``.
    ///
    /// - Parameters:
    ///   - request: The request, whose body is ignored.
    ///   - descriptor: The descriptor, which is read and closed in the same way as by
    ///     ``start(_:uploading:fileID:line:configure:)``.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: The response: its header, and its body, which is still to be read.
    /// - Throws: ``HTTPClientError`` if there is no response.
    nonisolated(nonsending) public func response(
        for request: Request, uploading descriptor: consuming OwnedDescriptor,
        fileID: StaticString = #fileID, line: Int = #line
    ) async throws(HTTPClientError) -> Response {
        try await answer(to: request, UploadFile(descriptor), SourceLocation(fileID, line))
    }

    /// Sends a request whose body consists of the pieces of a sequence, and awaits the header of its response.
    ///
    /// ```swift
    /// let answer = try await client.response(for: request, uploading: connection.pieces())
    /// ```
    ///
    /// A slow server makes the sequence wait: if more than 256 KiB are unsent, the method awaits the next piece only after the
    /// unsent bytes have fallen to 128 KiB. If the transfer ends before the sequence, the method does not read the rest of the
    /// sequence, and returns the response or throws the error.
    ///
    /// As with ``HTTPTransfer/write(_:)-([UInt8])``, the body cannot be sent again. If the task is cancelled, the transfer is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - request: The request. If its body is ``HTTPClient/Request/Body/stream(contentLength:)``, the length is sent to the server.
    ///     Any other body is ignored.
    ///   - pieces: The pieces of the body. The sequence is iterated in the isolation of the caller.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Returns: The response: its header, and its body, which is still to be read.
    /// - Throws: ``HTTPClientError`` if there is no response, or the error that the sequence throws. An error of the sequence cancels
    ///   the transfer.
    nonisolated(nonsending) public func response<Pieces: AsyncSequence>(
        for request: Request, uploading pieces: Pieces, fileID: StaticString = #fileID, line: Int = #line
    ) async throws -> Response where Pieces.Element == [UInt8] {
        var request = request
        if case .stream = request.body {} else { request.body = .stream(contentLength: nil) }
        let reader = try begin(request, nil, SourceLocation(fileID, line))
        let transfer = reader.transfer
        do {
            var iterator = pieces.makeAsyncIterator()
            while transfer.isOpen, let piece = try await iterator.next(isolation: #isolation) {
                transfer.write(piece)
                while transfer.isOpen && transfer.isAboveMark { await reader.wait(isolation: #isolation) }
            }
        } catch {
            transfer.cancel()
            throw error
        }
        transfer.endBody()
        return try await header(of: reader)
    }

    nonisolated(nonsending) private func answer(
        to request: Request, _ file: UploadFile?, _ origin: SourceLocation
    ) async throws(HTTPClientError) -> Response {
        try await header(of: begin(request, file, origin))
    }

    /// Starts a transfer, and returns the reader through which a task gets the response.
    private func begin(
        _ request: Request, _ file: UploadFile?, _ origin: SourceLocation
    ) throws(HTTPClientError) -> BodyReader {
        if !isValid { throw .clientInvalidated }
        var made: BodyReader?
        _ = transferSet.start(request, file, origin) { made = BodyReader($0) }
        guard let made else { throw .clientInvalidated }
        return made
    }

    /// Awaits the header of the response that a reader's transfer receives.
    nonisolated(nonsending) private func header(of reader: BodyReader) async throws(HTTPClientError)
        -> Response
    {
        while true {
            if let response = reader.transfer.response {
                return Response(head: response, body: Response.Body(reader: reader))
            }
            if case .some(.some(let error)) = reader.transfer.result { throw error }
            await reader.wait(isolation: #isolation)
        }
    }
}
