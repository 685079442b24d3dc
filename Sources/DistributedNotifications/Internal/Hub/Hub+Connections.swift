internal import DequeModule

extension Hub {
    // MARK: - Beginning and end

    /// Adds a connection and its poster.
    ///
    /// - Returns: The older connection of the same poster, which the owner closes; nil if there is none.
    mutating func open(
        _ id: ConnectionID, poster: PosterID, of owner: HubShares.Owner = .own
    ) -> ConnectionID? {
        let older = posters[poster]?.connection
        if let older { close(older) }
        let share = shares.retain(owner)
        connections[id] = HubConnection(poster: poster, share: share)
        if posters[poster] == nil {
            if let tombstone = tombstones.remove(poster) {
                // The hub has treated the poster as ended, but it has connected again.
                posters[poster] = tombstone.poster
                index.add(poster)
            } else {
                shares.retain(share)
                posters[poster] = HubPoster(share: share)
            }
        }
        if let known = posters[poster], known.share != share {
            shares.move(known.bytes, from: known.share, to: share)
            shares.retain(share)
            shares.release(known.share)
            posters[poster]?.share = share
        }
        posters[poster]?.connection = id
        return older
    }

    /// Removes a connection that has ended; its poster can connect again.
    mutating func close(_ id: ConnectionID) {
        guard let state = connections.removeValue(forKey: id) else { return }
        if posters[state.poster]?.connection == id { posters[state.poster]?.connection = nil }
        // No poster waits for the connection any longer: when the center connects again, it asks for the posts that it has not
        // confirmed.
        if state.pace != .behind { settleAll(of: state) }
        shares.discharge(state.share, state.queue.bytes)
        begin(.subscriptions(state.subscriptions, id, share: state.share))
    }

    /// Removes a poster that has ended; `last` is the number of its last post, or nil if the number is unknown.
    mutating func end(_ poster: PosterID, last: UInt64?) {
        guard let state = posters.removeValue(forKey: poster) else { return }
        index.remove(poster)
        if let link = state.connection.flatMap({ connections.index(forKey: $0) }) {
            at(link) { $0.posting = .ended }
        }
        let end = PosterEnd(
            poster: poster, accepted: state.accepted, last: last.map { max($0, state.accepted) })
        let tombstone = HubTombstones.Tombstone(end: end, poster: state.remains, position: ring.newest)
        tombstones.add(tombstone)
        forgetTombstones()
        // A report without lost posts makes no gap, and an observer needs it for each poster.
        let harmless = PosterEnd(poster: poster, accepted: end.accepted, last: end.accepted)
        if !tombstone.isLossy { return broadcast(.ended(harmless)) }
        switch endReports.way(of: state.share, limits) {
        case .exact: broadcast(.ended(end))
        case .merged:
            broadcast(.ended(.unknown))
            broadcast(.ended(harmless))
        case .later: broadcast(.ended(harmless))
        }
    }

    private mutating func forgetTombstones() {
        while let removed = tombstones.forget(limits) {
            var link = connections.startIndex
            while link != connections.endIndex {
                at(link) { $0.losses.forgetPoster() }
                connections.formIndex(after: &link)
            }
            let poster = removed.poster
            begin(.marks(poster.marks, share: poster.share, bytes: poster.bytes))
        }
    }

    // MARK: - Leftovers

    /// The number of subscriptions or marks that are removed in one call.
    static let removedAtOnce = 128

    /// True if there is work for ``tidy()``.
    var hasLeftovers: Bool { !leftovers.isEmpty }

    /// Does a part of the work that was too much for one call.
    mutating func tidy() {
        if let first = leftovers.popFirst() { begin(first) }
    }

    /// Does a part of some work, and leaves the rest for ``tidy()``.
    private mutating func begin(_ leftover: Leftover) {
        switch leftover {
        case .subscriptions(var subscriptions, let id, let share):
            var count = 0
            while count < Hub.removedAtOnce {
                guard let some = subscriptions.removeSome() else { return shares.release(share) }
                for removed in some { release(removed, of: id, share) }
                count += some.count + 1
            }
            leftovers.append(.subscriptions(subscriptions, id, share: share))
        case .marks(var marks, let share, let bytes):
            var count = 0
            while count < Hub.removedAtOnce {
                guard let some = marks.removeSome() else {
                    shares.discharge(share, bytes)
                    return shares.release(share)
                }
                for mark in some { index.removeMark(mark.place.nodes, serial: mark.place.serial) }
                count += some.count + 1
            }
            leftovers.append(.marks(marks, share: share, bytes: bytes))
        case .slow(let id): if let link = connections.index(forKey: id) { fallBehind(at: link) }
        }
    }

    /// Forgets a subscription that was removed from its connection.
    mutating func release(_ subscribed: HubConnection.Subscribed, of id: ConnectionID, _ share: Int) {
        let request = subscribed.request
        shares.discharge(share, HubConnection.Subscribed.cost(of: request))
        index.removeListener(id)
        switch subscribed.phase {
        case .waiting: break
        case .replaying: index.remove(.init(request), id, isReplaying: true)
        case .live: index.remove(.init(request), id, isReplaying: false)
        }
    }
}
