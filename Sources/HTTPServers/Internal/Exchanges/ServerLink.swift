internal import CHTTPDaemon
internal import HTTPMessages
internal import RunLoops

/// A connection that a server has accepted.
///
/// > Thread safety: the loop's own thread only.
@safe
final class ServerLink {
    /// The part of a request that the client must send before a time limit.
    enum Wait: Equatable {
        /// The header of the next request.
        ///
        /// The time limit is nil until the next check of all connections sets it.
        case header(until: Moment?)
        /// The rest of the body of a request.
        case body(until: Moment)
        /// Nothing: the server has to answer, or no limit applies.
        case nothing
    }

    /// The connection in libmicrohttpd.
    let handle: OpaquePointer
    let socket: CInt
    /// The server, which holds this object until the connection is closed.
    let server: HTTPServer
    /// The index of this object in the server's list of connections.
    var place = -1
    /// The request under way; nil between two requests.
    var exchange: Exchange?
    /// An exchange that has ended, and that is to be used again for the next request; nil if there is none.
    var spare: Exchange?
    var wait: Wait
    /// The moment since which the connection counts as quiet while the server stops.
    ///
    /// A stopping server checks the connection repeatedly while no request is under way. The first check sets this moment, and so
    /// does each check that finds unread bytes. The next request sets it to nil.
    var quietSince: Moment?

    /// True once the server has closed the connection because its client was too slow.
    var isClosedAsLate = false

    init(_ handle: OpaquePointer, _ server: HTTPServer, until date: Moment) {
        unsafe self.handle = handle
        self.server = server
        socket = unsafe runloops_link_socket(handle)
        wait = .header(until: date)
    }

    /// Checks the time limit for the part of a request that the client must send.
    ///
    /// - Parameters:
    ///   - now: The current moment.
    ///   - time: The time limit for the header of each request after the first. It is counted from the first call of this method
    ///     after the previous request has ended.
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

    /// The fields of the header of the request under way, as copies.
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

    /// Checks the fields of the header of the request under way, without copying them.
    ///
    /// - Parameter bodyLimit: The maximum number of bytes of a body; nil for no limit.
    /// - Returns: The rules, which have checked all fields.
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

/// Returns a copy of a string that libmicrohttpd owns.
private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
    // Safe: the bytes are valid during the call, and are copied.
    unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
