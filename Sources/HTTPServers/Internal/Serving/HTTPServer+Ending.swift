#if HTTPServers
    internal import DequeModule
    internal import RunLoops
    internal import Streams

    extension HTTPServer {
        package func giveBack(inForkedChild isChild: Bool) {
            listener.invalidate()
            if isChild {
                // The connections are the parent's, too: only the descriptors of this process are closed.
                let released = (handlers, links)
                (handlers, links, turns) = (Handlers(), [:], [])
                for link in released.1.values { link.connection.close() }
                return withExtendedLifetime(released) {}
            }
            withExtendedLifetime(self) {
                for link in Array(links.values) { link.end(.serverInvalidated, resets: false) }
                stopping?.timer.invalidate()
                membership?.endHandler.cancel()
                finishEnding()
            }
        }

        /// Tells the program of all ends, unless a handler of the server is on the stack, and releases the handlers.
        ///
        /// Call this only when the server is invalid.
        func finishEnding() {
            if isCalling || isServing { return }
            isServing = true
            while let turn = turns.popFirst() {
                if case .end(let exchange) = turn { exchange.tellEnd() }
            }
            isServing = false
            let released = exchange(&handlers, with: Handlers())
            let stopped = stopping?.handlers ?? []
            stopping = nil
            for handler in stopped { handler(self) }
            membership.take()?.input.leave()
            withExtendedLifetime(released) {}
        }

        /// Ends the server, because the thread of its loop ends.
        func loopEnds() {
            // If a handler has ended the thread, that handler never returns.
            (isCalling, isServing) = (false, false)
            endHere()
        }
    }
#endif
