internal import Glibc
internal import MessagePorts
internal import RunLoops

// The ends of connections, and of the processes behind them.

extension HubServer {
    func lose(_ peer: MessagePort.Peer) {
        guard let client = forget(peer.id) else { return }
        hub.close(peer.id)
        if hub.posters[client.poster]?.connection == nil && hub.posters[client.poster] != nil {
            awaitEnd(of: client)
        }
        flushReady()
    }

    /// Waits for the end of the process of a poster whose connection has ended.
    ///
    /// When the process ends, the poster ends, too. This does not happen if the poster has connected again before.
    private func awaitEnd(of client: Client) {
        let owner = owner(of: client.peer)
        // The process ID is 0 if the process is invisible here, because it is in another namespace.
        if owner.process > 0 && !absence.isWatched(owner) {
            do throws(SystemError) {
                let source = try ProcessSource(owner.process) { [unowned self] _, _ in
                    ending += absence.removeAll(of: owner)
                    flushReady()
                }
                try loop.add(source, forMode: .common)
                absence.watch(owner, with: source)
            } catch {
                // ESRCH: the process has ended. Without a free descriptor, the process is not watched, as if it were invisible.
                if error.code == ESRCH { return ending.append((client.poster, client.numbers)) }
            }
        }
        absence.add(client.poster, client.numbers, of: owner)
        while let excess = absence.excess(of: owner) {
            absence.remove(excess)
            // The hub then treats this poster as ended.
            hub.end(excess, last: nil)
        }
    }
}
