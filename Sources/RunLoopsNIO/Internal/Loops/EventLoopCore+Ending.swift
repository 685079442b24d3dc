#if NIO
    internal import NIOCore

    extension EventLoopCore {
        /// Closes all channels, and ends the event loop when the last one is closed.
        ///
        /// - Parameter body: Called on the loop's thread when the event loop has ended.
        func shutDown(_ body: @escaping () -> Void) {
            switch phase {
            case .ending, .ended: body()
            case .closing(let bodies): phase = .closing(bodies + [body])
            case .open:
                phase = .closing([body])
                closeChannels()
                if channels.isEmpty { lastChannelClosed() }
            }
        }

        /// Ends the event loop, if it is closing, after the tasks of the last channel.
        func lastChannelClosed() {
            guard case .closing = phase else { return }
            switch tasks.inbox.append({ [end = ConfinedEnd(core: self)] in end.core.end() }) {
            case .first, .further: enqueue(tasks)
            case .refused: break
            }
        }

        /// Ends the event loop, because the thread of its run loop ends.
        func loopEnds() {
            switch phase {
            case .ending, .ended: return
            case .closing: break
            case .open:
                phase = .closing([])
                closeChannels()
            }
            tasks.drain()
            for channel in Array(channels.values) { channel.closeNow(EventLoopError.shutdown) }
            end()
        }

        private func closeChannels() { for channel in Array(channels.values) { channel.closeGently() } }

        /// Fails the tasks that wait for their deadlines, runs the others, and closes the inbox.
        private func end() {
            guard case .closing(let bodies) = phase else { return }
            phase = .ending
            tasks.failScheduled(EventLoopError.shutdown)
            tasks.drain()
            // A task can have scheduled another one.
            phase = .ended
            tasks.failScheduled(EventLoopError.shutdown)
            tasks.close()
            leaveLoop()
            for body in bodies { body() }
        }
    }

    /// The event loop whose end waits in its own inbox.
    ///
    /// `@unchecked Sendable`: the task in the inbox runs on the loop's thread, as the inbox is only emptied there.
    private struct ConfinedEnd: @unchecked Sendable {
        let core: EventLoopCore
    }
#endif
