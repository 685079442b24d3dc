internal import CHTTPDaemon
internal import RunLoops

extension HTTPServer {
    /// The time for which a connection must be quiet before a stopping server closes it.
    ///
    /// A connection is quiet while it has no request and no unread byte.
    private static let quietTime = Duration.milliseconds(500)

    func linkWasOpened(_ handle: OpaquePointer) -> ServerLink {
        counts.value.connections += 1
        let link = unsafe ServerLink(
            handle, self, until: Moment.now().advanced(by: options.headerTimeout.nanosecondsRoundedUp))
        link.place = links.count
        links.append(link)
        return link
    }

    func linkWasClosed(_ link: ServerLink) {
        let last = links.removeLast()
        if last !== link {
            links[link.place] = last
            last.place = link.place
        }
        link.exchange?.end(.failed)
        link.exchange = nil
        link.spare = nil
    }

    func suspend(_ link: ServerLink) { unsafe runloops_link_suspend(link.handle) }

    func resume(_ link: ServerLink) { unsafe runloops_link_resume(link.handle) }

    // MARK: - Clients that leave

    /// Watches the socket of an exchange, to notice when the client leaves.
    ///
    /// This is for an exchange whose streamed answer has no bytes to send at the moment.
    func watch(_ exchange: Exchange) {
        if exchange.hasEnded { return }
        let socket = exchange.link.socket
        watchedExchanges[socket] = exchange
        source?.setInterest(.read, of: socket)
    }

    func unwatch(_ exchange: Exchange) {
        if watchedExchanges.isEmpty { return }
        let socket = exchange.link.socket
        guard watchedExchanges[socket] === exchange else { return }
        watchedExchanges[socket] = nil
        source?.setInterest([], of: socket)
    }

    func lookAtWaiting(_ socket: CInt) {
        guard let exchange = watchedExchanges[socket] else { return }
        // If the socket is readable but not at its end, the client has sent its next request. The watch ends in that case, too:
        // otherwise it would report the unread bytes again and again.
        let isAtEnd = runloops_socket_is_at_end(socket)
        unwatch(exchange)
        if isAtEnd { exchange.clientWasSeenToLeave() }
    }

    // MARK: - Times

    /// The time between two checks of all connections.
    ///
    /// A check finds the connections that have exceeded a time limit, and those whose clients have left.
    var sweepInterval: Duration {
        if stopping != nil { return .milliseconds(20) }
        return max(min(options.headerTimeout, options.bodyTimeout) / 8, .milliseconds(1))
    }

    /// Closes connections, if a check of all connections is due.
    ///
    /// The check closes each connection whose client has exceeded a time limit or has left. While the server stops, the check also
    /// closes quiet connections.
    func sweepIfDue() {
        if let sweepDate, .now < sweepDate { return }
        sweepDate = nil
        let now = Moment.now()
        for link in links {
            if link.isLate(now, timeForHeader: options.idleTimeout + options.headerTimeout) {
                closeAsLate(link)
            } else if link.wait != .nothing && runloops_socket_is_at_end(link.socket) {
                // If the end of a stream arrives together with bytes, libmicrohttpd does not notice the end.
                runloops_socket_end(link.socket)
            } else if stopping != nil && link.exchange == nil {
                closeIfQuiet(link, now)
            }
        }
    }

    private func closeAsLate(_ link: ServerLink) {
        // A streamed body has no time limit.
        if case .body = link.wait, link.exchange?.contents.input.isStreamed == true {
            return link.wait = .nothing
        }
        if link.isClosedAsLate { return }
        link.isClosedAsLate = true
        counts.value.slowConnections += 1
        runloops_socket_end(link.socket)
    }

    private func closeIfQuiet(_ link: ServerLink, _ now: Moment) {
        guard let since = link.quietSince, runloops_socket_unread(link.socket) == 0 else {
            link.quietSince = now
            return
        }
        if now >= since.advanced(by: HTTPServer.quietTime.nanosecondsRoundedUp) {
            runloops_socket_end(link.socket)
        }
    }
}
