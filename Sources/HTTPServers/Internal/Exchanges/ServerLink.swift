internal import CHTTPDaemon
internal import HTTPMessages
internal import RunLoops

/// A connection of a server.
///
/// > Thread safety: the loop's own thread only.
@safe
final class ServerLink {
    /// The part of a request that must arrive in time.
    enum Wait: Equatable {
        /// The header of the next request. The moment is nil until the next check of all connections.
        case header(until: Moment?)
        /// The rest of a body.
        case body(until: Moment)
        /// Nothing: the server has to answer, or no limit applies.
        case nothing
    }

    /// libmicrohttpd's connection.
    let handle: OpaquePointer
    let socket: CInt
    /// The server, which holds the link until the connection is closed.
    let server: HTTPServer
    /// The index in the server's list of connections.
    var place = -1
    /// The request under way.
    var exchange: Exchange?
    /// An exchange that has ended, for the next request.
    var spare: Exchange?
    var wait: Wait
    /// The moment of the first check that found neither a request nor an unread byte; nil if the last check found one.
    var quietSince: Moment?

    /// True once the connection was closed because its client is too slow.
    var isClosedAsLate = false

    init(_ handle: OpaquePointer, _ server: HTTPServer, until date: Moment) {
        unsafe self.handle = handle
        self.server = server
        socket = unsafe runloops_link_socket(handle)
        wait = .header(until: date)
    }

    /// Checks the time limit of the client.
    ///
    /// - Parameters:
    ///   - now: The current moment.
    ///   - time: The time allowed for the header of a later request. This time begins with the first check after the previous
    ///     request.
    /// - Returns: True if the client has exceeded a time limit.
    func isLate(_ now: Moment, timeForHeader time: Duration) -> Bool {
        switch wait {
        case .header(nil):
            wait = .header(until: now.advanced(by: time.nanosecondsRoundedUp))
            return false
        case .header(let date?), .body(let date): return now >= date
        case .nothing: return false
        }
    }

    // MARK: - The header of the request

    /// The fields of the header.
    var fields: HTTPFields {
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

    /// Checks the fields of the header, without copying them.
    ///
    /// - Parameter bodyLimit: The maximum number of bytes of a body; nil for no limit.
    /// - Returns: The rules, which have seen all fields.
    func checkFields(bodyLimit: Int?) -> RequestRules {
        var rules = RequestRules(bodyLimit: bodyLimit)
        unsafe withUnsafeMutablePointer(to: &rules) { rules in
            unsafe runloops_link_fields(
                handle,
                { context, name, nameCount, value, valueCount in
                    // Safe: the context is our own variable, and the bytes are valid during the call.
                    unsafe context!.assumingMemoryBound(to: RequestRules.self).pointee.add(
                        Span(_unsafeBytes: UnsafeRawBufferPointer(start: name, count: nameCount)),
                        Span(_unsafeBytes: UnsafeRawBufferPointer(start: value, count: valueCount)))
                }, rules)
        }
        return rules
    }
}

/// Copies a text of libmicrohttpd.
private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    // Safe: the bytes are valid during the call, and are copied.
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
