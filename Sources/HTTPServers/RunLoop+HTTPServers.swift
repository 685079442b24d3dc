#if HTTPServers
    public import RunLoops

    extension RunLoop {
        /// Adds a server to a mode, and sets its handler of requests.
        ///
        /// The loop holds the server until the server has stopped, is invalidated, or is removed from its last mode. A server has one
        /// such handler: adding the server again, to this mode or another one, replaces the handler in all its modes. If the server or
        /// the loop has ended, nothing happens.
        ///
        /// - Parameters:
        ///   - server: The server. It stays on this loop; adding it to another loop ends the program with a message.
        ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
        ///   - handler: Called on the loop's thread with each request that was received completely. The handler answers immediately or
        ///     later.
        /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket, or the process has no descriptor left. If
        ///   the call fails, the server is not changed.
        ///
        /// > Thread safety: the loop's own thread only.
        public func add(
            _ server: HTTPServer, forMode mode: Mode, handler: @escaping (HTTPExchange) -> Void
        ) throws(SystemError) {
            requireOwnThread("RunLoop.add(server)", "perform a block on the loop and add the server there")
            if hasEnded { return }
            try server.join(self, mode, handler)
        }
    }

    extension HTTPServer: RunLoopMember {
        /// Removes the server from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
        ///
        /// After that, while the loop runs in that mode, the server accepts nothing, and its connections and handlers wait.
        ///
        /// - Parameters:
        ///   - loop: The loop.
        ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the server was added to the common modes. If the server is not
        ///     in it, nothing happens.
        ///
        /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
        public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
            loop.remove(end) { [self] in
                if membership?.loop === loop { leave(mode) }
            }
        }

        /// Removes the server from all modes of a loop; call `RunLoop.remove(_:)` instead.
        ///
        /// The open connections stay open, and wait: invalidate a server that you do not add again.
        ///
        /// - Parameter loop: The loop. If the server is not in it, nothing happens.
        ///
        /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
        public func remove(from loop: RunLoop) {
            loop.remove(end) { [self] in
                if membership?.loop !== loop { return }
                for mode in modes { leave(mode) }
            }
        }
    }
#endif
