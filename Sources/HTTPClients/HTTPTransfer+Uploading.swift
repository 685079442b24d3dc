internal import RunLoops

extension HTTPTransfer {
    /// Writes the next bytes of a request body that is a stream.
    ///
    /// The bytes are sent after all bytes that were written before. This call never waits.
    ///
    /// A stream cannot be sent again: if the server redirects in a way that keeps the body, or closes a connection that is being
    /// reused, the transfer ends with ``HTTPClientError/Reason/bodyNotRepeatable``.
    ///
    /// - Parameter bytes: The bytes. The array is retained, not copied.
    /// - Returns: False if a writer should wait, because more than 256 KiB are unsent: write no more until the handler of
    ///   ``onDrained(_:)`` is called. Also false if the transfer or its body has ended; in that case, the bytes are discarded.
    /// - Precondition: The body of ``request`` is ``HTTPClient/Request/Body/stream(contentLength:)``.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool {
        requireOwnThread("HTTPTransfer.write")
        guard let stream = stream("HTTPTransfer.write"), let transferSet = contents.transferSet else {
            return false
        }
        let mayGoOn = stream.append(bytes)
        transferSet.uploadHasMore(self)
        return mayGoOn
    }

    /// Writes bytes, which are copied.
    ///
    /// Apart from the type of its parameter, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter bytes: The bytes, such as those that a handler was given.
    /// - Returns: False if a writer should wait, or if the bytes were discarded.
    /// - Precondition: The body of ``request`` is ``HTTPClient/Request/Body/stream(contentLength:)``.
    @discardableResult
    public func write(_ bytes: RawSpan) -> Bool { write([UInt8](bytes)) }

    /// Writes a string, in UTF-8.
    ///
    /// Apart from the type of its parameter, this method behaves like ``write(_:)-([UInt8])``.
    ///
    /// - Parameter text: The text.
    /// - Returns: False if a writer should wait, or if the text was discarded.
    /// - Precondition: The body of ``request`` is ``HTTPClient/Request/Body/stream(contentLength:)``.
    @discardableResult
    public func write(_ text: some StringProtocol) -> Bool { write([UInt8](text.utf8)) }

    /// Ends a request body that is a stream.
    ///
    /// - Precondition: The body of ``request`` is ``HTTPClient/Request/Body/stream(contentLength:)``.
    public func endBody() {
        requireOwnThread("HTTPTransfer.endBody")
        guard let stream = stream("HTTPTransfer.endBody"), let transferSet = contents.transferSet else {
            return
        }
        stream.end()
        transferSet.uploadHasMore(self)
    }

    /// Sets the handler that is called when a writer of the request's body may continue.
    ///
    /// After the unsent bytes have exceeded 256 KiB, a writer should wait. It may continue when they have fallen to half of that.
    ///
    /// - Parameter handler: Called with the transfer, each time that a writer may continue.
    public func onDrained(_ handler: @escaping (HTTPTransfer) -> Void) {
        requireOwnThread("HTTPTransfer.onDrained")
        if isOpen { contents.handlers.drained.replace(with: handler) }
    }

    /// The number of written bytes that the transfer has not begun to send.
    public var unsentByteCount: Int {
        contents.upload?.stream?.count ?? 0
    }

    /// True while a writer should wait.
    ///
    /// This begins when the unsent bytes exceed 256 KiB, and ends when they have fallen to half of that.
    var isAboveMark: Bool { contents.upload?.stream?.isAboveMark ?? false }

    private func stream(_ member: StaticString) -> UploadStream? {
        if let stream = contents.upload?.stream { return stream }
        if case .stream = request.body { return nil }
        misuse(
            "\(member): the body of the request is not a stream; set it to .stream(contentLength:) before the start"
        )
    }
}
