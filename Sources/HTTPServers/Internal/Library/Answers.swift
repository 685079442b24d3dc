internal import CHTTPDaemon
internal import HTTPMessages

extension Exchange {
    /// Passes the answer to libmicrohttpd, which sends it.
    ///
    /// - Returns: False if the answer cannot be sent.
    func sendAnswer() -> Bool {
        guard let answer = contents.answer, let made = unsafe libraryAnswer(answer) else { return false }
        defer {
            unsafe runloops_answer_free(made)
            if case .whole = answer { contents.answer = .sent }
        }
        if link.server.stopping != nil, answer.status != 101,
            !(unsafe runloops_answer_add_field(made, "Connection", "close"))
        {
            return false
        }
        return unsafe runloops_link_answer(link.handle, UInt32(answer.status), made)
    }

    /// Releases the response object of a whole answer that was not sent before the exchange ended.
    func releaseAnswer() {
        guard case .whole(let made, _)? = contents.answer else { return }
        contents.answer = .sent
        unsafe runloops_answer_free(made)
    }

    /// Makes a response object of libmicrohttpd from a whole answer; nil if there is no memory.
    func libraryAnswer(_ response: HTTPServer.Response) -> OpaquePointer? {
        // Safe: the bytes are copied during the call.
        let made = unsafe response.body.withUnsafeBytes {
            unsafe runloops_answer_new($0.baseAddress, $0.count)
        }
        return unsafe withFields(response.fields, made)
    }

    private func libraryAnswer(_ answer: ServerAnswer) -> OpaquePointer? {
        switch answer {
        case .whole(let made, _): return unsafe made
        case .sent: return nil
        case .file(let file, _, let fields):
            return unsafe withFields(
                fields, runloops_answer_new_file(file.release(), UInt64(file.count ?? 0)))
        case .upgrade(let fields, _, _):
            return unsafe withFields(fields, runloops_answer_new_upgrade(link.server.daemon))
        case .stream(_, let fields, let count):
            // Safe: libmicrohttpd releases this reference once, when it destroys the response object.
            let context = unsafe Unmanaged.passRetained(self)
            let made = unsafe runloops_answer_new_stream(
                Int64(count ?? -1),
                { context, room, capacity in
                    // Safe: the response object holds the exchange until it is destroyed, and the room is valid during the call.
                    unsafe Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().giveBody(
                        UnsafeMutableRawBufferPointer(start: room, count: capacity))
                }, { context in unsafe Unmanaged<Exchange>.fromOpaque(context!).release() },
                unsafe context.toOpaque())
            if unsafe made == nil { unsafe context.release() }
            return unsafe withFields(fields, made)
        }
    }

    /// Adds fields to a response object of libmicrohttpd, and returns the object.
    ///
    /// If there is no memory, releases the object, and returns nil.
    private func withFields(_ fields: HTTPFields, _ made: OpaquePointer?) -> OpaquePointer? {
        guard let made = unsafe made else { return nil }
        let fields = fields.fields.span
        for index in fields.indices {
            // If the texts were passed to C directly, each text would be copied to a new array.
            // Safe: libmicrohttpd copies the texts during the call.
            let isAdded = unsafe fields[index].name.withCString { name in
                unsafe fields[index].value.withCString { unsafe runloops_answer_add_field(made, name, $0) }
            }
            if isAdded { continue }
            unsafe runloops_answer_free(made)
            return nil
        }
        return unsafe made
    }

    /// Copies the next bytes of a streamed answer into memory of libmicrohttpd.
    ///
    /// - Returns: The number of bytes, or the code that tells libmicrohttpd that the body has ended, has failed, or continues
    ///   later.
    private func giveBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        if contents.isAborted || hasEnded { return Int(runloops_body_failed) }
        let count = unsafe contents.stream?.output.give(room) ?? 0
        if contents.stream?.output.hasDrained == true { enqueue() }
        contents.stream?.given += count
        if count > 0 { return count }
        if let stream = contents.stream, stream.hasEnded {
            // Without this failure, libmicrohttpd would leave the client waiting for bytes that never arrive.
            if case .stream(_, _, let promised?)? = contents.answer, stream.given < promised {
                return Int(runloops_body_failed)
            }
            return Int(runloops_body_end)
        }
        suspend()
        // libmicrohttpd does not watch the socket of a suspended connection.
        link.server.watch(self)
        return Int(runloops_body_later)
    }
}
