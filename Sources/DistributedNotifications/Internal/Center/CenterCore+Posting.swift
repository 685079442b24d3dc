internal import RunLoops

// The posts that are handed to the engine, and the stalls of the engine.

extension CenterCore {
    /// Hands the waiting posts to the engine until none is left, or until the engine takes no more.
    func pump() {
        // While the engine has no room, it gets no announcement of dropped posts either: until then, the log merges them.
        if isFull { return state.stopPumping() }
        while let (announcement, posts) = state.nextToHandOver() {
            if let announcement { engine.announce(announcement) }
            let taken = handOver(posts)
            if taken > 0 { state.handedOver(taken) }
            if taken == posts.last?.number ?? 0 { continue }
            state.stopPumping()
            break
        }
        watchForStall()
    }

    /// Hands posts to the engine, in order, until the engine refuses one.
    ///
    /// - Returns: The number of the last post that the engine has taken; 0 if it has taken none.
    private func handOver(_ posts: [Post]) -> UInt64 {
        var last: UInt64 = 0
        for post in posts {
            switch engine.publish(post) {
            case .taken: last = post.number
            case .full:
                isFull = true
                return last
            case .away: return last
            }
        }
        return last
    }

    /// Starts the timer that detects a stall, if the engine owes an acknowledgement.
    ///
    /// If the engine owed none before, ``lastProgress`` is set to the current time.
    func watchForStall() {
        let isOwed = state.isOwed
        if isOwed && !wasOwed { lastProgress = .now }
        wasOwed = isOwed
        if isOwed && stall == nil { armStall(after: state.options.stallTimeout) }
    }

    private func armStall(after time: Duration) {
        let timer = Timer(timeInterval: time, repeats: false) { [unowned self] _ in checkStall() }
        stall = timer
        state.loop.add(timer, forMode: .common)
    }

    private func checkStall() {
        stall = nil
        guard state.isOwed, epoch != nil else { return }
        let left = state.options.stallTimeout - (ContinuousClock.now - lastProgress)
        if left > .zero { return armStall(after: left) }
        state.changeState(.stalled(since: lastProgress))
    }
}
