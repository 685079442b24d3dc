internal import CHTTPDaemon
internal import HTTPMessages

extension Exchange {
    /// Returns the fields of the header of a request.
    func fields(of handle: OpaquePointer) -> HTTPFields {
        var fields = HTTPFields(capacity: 8)
        unsafe withUnsafeMutablePointer(to: &fields) { fields in
            unsafe runloops_link_fields(
                handle,
                { context, name, nameCount, value, valueCount in
                    // Safe: the context is our own variable, and the bytes are copied.
                    unsafe context!.assumingMemoryBound(to: HTTPFields.self).pointee.append(
                        text(name, nameCount), text(value, valueCount))
                }, fields)
        }
        return fields
    }

    /// Passes the answer to libmicrohttpd.
    ///
    /// - Returns: False if the answer cannot be sent.
    func sendAnswer(_ server: HTTPServer, _ link: ServerLink) -> Bool {
        guard let answer, let made = unsafe libraryAnswer(answer, server) else { return false }
        defer { unsafe runloops_answer_free(made) }
        for field in answer.fields {
            // If the texts were passed to C directly, each text would be copied to a new array.
            // Safe: libmicrohttpd copies the texts during the call.
            let isAdded = unsafe field.name.withCString { name in
                unsafe field.value.withCString { unsafe runloops_answer_add_field(made, name, $0) }
            }
            if !isAdded { return false }
        }
        if server.stopping != nil, answer.status != 101,
            !(unsafe runloops_answer_add_field(made, "Connection", "close"))
        {
            return false
        }
        return unsafe runloops_link_answer(link.handle, UInt32(answer.status), made)
    }

    private func libraryAnswer(_ answer: ServerAnswer, _ server: HTTPServer) -> OpaquePointer? {
        switch answer {
        case .whole(let response):
            // Safe: the bytes are copied during the call.
            return unsafe response.body.withUnsafeBytes {
                unsafe runloops_answer_new($0.baseAddress, $0.count)
            }
        case .file(let file, _, _):
            return unsafe runloops_answer_new_file(file.release(), UInt64(file.count ?? 0))
        case .upgrade: return unsafe runloops_answer_new_upgrade(server.daemon)
        case .stream(_, _, let count):
            // Safe: libmicrohttpd releases this reference once, when it destroys the answer.
            let context = unsafe Unmanaged.passRetained(self)
            let made = unsafe runloops_answer_new_stream(
                Int64(count ?? -1),
                { context, room, capacity in
                    // Safe: the answer holds the exchange until the answer is destroyed, and the room is valid during the call.
                    unsafe Unmanaged<Exchange>.fromOpaque(context!).takeUnretainedValue().giveBody(
                        UnsafeMutableRawBufferPointer(start: room, count: capacity))
                }, { context in unsafe Unmanaged<Exchange>.fromOpaque(context!).release() },
                unsafe context.toOpaque())
            if unsafe made == nil { unsafe context.release() }
            return unsafe made
        }
    }

    /// Passes the next bytes of a streamed answer to libmicrohttpd.
    private func giveBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
        if isAborted || server == nil { return Int(runloops_body_failed) }
        let count = unsafe output.give(room)
        if output.hasDrained { enqueue() }
        given += count
        if count > 0 { return count }
        if outputHasEnded {
            // Otherwise libmicrohttpd would leave the client waiting for bytes that never arrive.
            if case .stream(_, _, let promised?)? = answer, given < promised {
                return Int(runloops_body_failed)
            }
            return Int(runloops_body_end)
        }
        suspend()
        // libmicrohttpd does not watch the socket of a suspended connection.
        server?.watch(self)
        return Int(runloops_body_later)
    }
}

/// Copies a text of libmicrohttpd.
private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    // Safe: the bytes are valid during the call, and are copied.
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
