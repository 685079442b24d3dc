internal import Glibc
internal import MessagePorts
internal import RunLoops

// The ends of connections, and of the processes behind them.

extension HubServer {
    func lose(_ peer: MessagePort.Peer) {
        guard let client = clients.removeValue(forKey: peer.connection) else { return }
        hub.close(peer.connection)
        if hub.posters[client.poster]?.connection == nil && hub.posters[client.poster] != nil {
            awaitEnd(of: client)
        }
        flushAll()
    }

    /// Watches the process of a poster whose connection has ended.
    ///
    /// When the process ends, the poster ends, too. This does not happen if the poster has connected again before.
    private func awaitEnd(of client: Client) {
        let poster = client.poster
        let numbers = client.numbers
        let process = client.peer.credentials.processID
        var source: ProcessSource?
        // The process ID is 0 if the process is invisible here, because it is in another namespace.
        if process > 0 {
            do throws(SystemError) {
                let made = try ProcessSource(process) { [unowned self] _, _ in
                    forget(poster)
                    hub.end(poster, last: numbers?.value)
                    flushAll()
                }
                try loop.add(made, forMode: .common)
                source = made
            } catch {
                // ESRCH: the process has ended. Without a free descriptor, the process is not watched, as if it were invisible.
                if error.code == ESRCH { return hub.end(poster, last: numbers?.value) }
            }
        }
        away[poster] = Away(process: source, numbers: numbers)
        awayOrder.append(poster)
        giveUpOldest()
    }

    /// Stops watching a poster's process.
    func forget(_ poster: PosterID) {
        guard let known = away.removeValue(forKey: poster) else { return }
        known.process?.invalidate()
        awayOrder.removeAll { $0 == poster }
    }

    /// If more than `mostAway` posters have lost their connections, gives up the poster that lost its connection first.
    ///
    /// The hub then treats this poster as ended.
    private func giveUpOldest() {
        guard awayOrder.count > HubServer.mostAway, let poster = awayOrder.first else { return }
        forget(poster)
        hub.end(poster, last: nil)
    }
}
