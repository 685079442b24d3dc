public import RunLoops

// Messages from the port to its peers, and the ends of peers.

extension MessagePort {
    /// Sends a message to a peer of the port, without ever blocking.
    ///
    /// The peer must have sent a message to this port, from a ``RemotePort`` that was made with
    /// ``RemotePort/init(connectingTo:in:messageByteLimit:descriptorLimit:fileID:line:)``. The messages and replies of one thread
    /// arrive in the order in which that thread sent them.
    ///
    /// If the peer has no room, the port keeps the message. When the peer has made room by reading, the port sends the message, as
    /// soon as the port's loop runs in one of the port's modes. For each peer, the port keeps up to ``Options/keptMessageLimit``
    /// messages, ``Options/keptMessageByteLimit`` bytes and 253 descriptors. So no peer delays the port or another peer, and the
    /// memory that one peer can make the port use is bounded.
    ///
    /// If the message would exceed a limit, this returns false and sends nothing. The handler of ``onPeerRoom(_:)`` is called when
    /// at most half of each limit is in use.
    ///
    /// The port does not copy an array that it keeps: a program that sends the same array to many peers holds it once.
    ///
    /// ```swift
    /// for peer in subscribers {
    ///     if try !port.trySend(news, to: peer) { missed[peer, default: 0] += 1 }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the peer. They stay open in this process, and the caller still owns them.
    ///   - peer: The peer: the ``Message/sender`` of a message of this port.
    /// - Returns: False if the messages that the port keeps for the peer are at a limit. Nothing was sent then.
    /// - Throws: ``MessagePortError/Reason/ended`` if the peer has ended, ``MessagePortError/Reason/tooLarge`` or
    ///   ``MessagePortError/Reason/tooManyDescriptors`` if the peer does not accept the message, or another ``MessagePortError``.
    ///   Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func trySend(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [], to peer: Peer
    ) throws(MessagePortError) -> Bool {
        // Safe: bytes have no padding.
        try unsafe core.trySend(bytes.span.bytes, in: bytes, id: id, descriptors, to: peer)
    }

    /// Sends the bytes of a span to a peer of the port, without ever blocking.
    ///
    /// This is the same as ``trySend(_:id:descriptors:to:)-([UInt8],_,_,_)``, except that the port copies the bytes that it keeps.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the peer. They stay open in this process, and the caller still owns them.
    ///   - peer: The peer: the ``Message/sender`` of a message of this port.
    /// - Returns: False if the messages that the port keeps for the peer are at a limit. Nothing was sent then.
    /// - Throws: The same errors as the function that takes an array. Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func trySend(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = [], to peer: Peer
    ) throws(MessagePortError) -> Bool {
        try core.trySend(bytes, in: nil, id: id, descriptors, to: peer)
    }

    /// Sets the handler that is called when a peer that had no room for a message has room again.
    ///
    /// After ``trySend(_:id:descriptors:to:)-([UInt8],_,_,_)`` has returned false for a peer, the handler is called once, when at
    /// most half of each limit is in use for the peer. The limits are ``Options/keptMessageLimit``,
    /// ``Options/keptMessageByteLimit`` and 253 descriptors. If the peer ends first, only the handler of ``onPeerEnd(_:)`` is
    /// called. Calling this again replaces the handler. When the port leaves its loop, the loop releases the handler.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the port and the peer that has room.
    /// - Precondition: The port is in this thread's loop; add it first. If the port or the loop has ended, this does nothing and
    ///   releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onPeerRoom(_ handler: @escaping (MessagePort, Peer) -> Void) {
        core.setHandler("MessagePort.onPeerRoom", \.peerHasRoom, handler)
    }

    /// Sets the handler that is called when an admitted sender has ended.
    ///
    /// A sender has ended if it has closed its end, if its process has ended for any reason, or if the port has closed its
    /// connection. All messages of the sender are served before the handler is called, unless ``disconnect(_:)`` has closed the
    /// connection. Calling this again replaces the handler. When the port leaves its loop, the loop releases the handler. If a
    /// sender ends while the port is in no loop, the port notices the end when it is in a loop again.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the port and the sender that has ended.
    /// - Precondition: The port is in this thread's loop; add it first. If the port or the loop has ended, this does nothing and
    ///   releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onPeerEnd(_ handler: @escaping (MessagePort, Peer) -> Void) {
        core.setHandler("MessagePort.onPeerEnd", \.peerEnded, handler)
    }

    /// Closes the connection of one peer.
    ///
    /// The peer finds that the connection has ended, and can connect again if the filter admits the peer. Messages of the peer that
    /// were not served yet are discarded, and so are messages that the port keeps for the peer. When the loop next serves the port,
    /// it calls the handler of ``onPeerEnd(_:)`` for the peer. On the thread of the port's loop, no handler for messages of the
    /// peer starts after this has returned. A peer that has ended already is ignored.
    ///
    /// - Parameter peer: The peer: the ``Message/sender`` of a message of this port.
    ///
    /// > Thread safety: any thread.
    public func disconnect(_ peer: Peer) {
        Fork.check("MessagePort.disconnect")
        core.connection(of: peer)?.cutOff()
    }

    /// Sets the handler that is called when the port has lost its name: other processes no longer find the port.
    ///
    /// A plain name is lost if its socket or its lock is removed or replaced, or if the directory of the names is removed or moved,
    /// for example by a program that cleans up directories. Another process can then take the name, so that two ports have it. The
    /// port keeps its connections, and is otherwise unchanged. Usually, a program then calls ``invalidate()`` and takes the name
    /// again. An abstract name cannot be lost.
    ///
    /// The handler is called once. If the name is lost already, the handler is called soon. The kernel reports the loss, so waiting
    /// for the loss causes no wake-ups. Calling this again replaces the handler. When the port leaves its loop, the loop releases
    /// the handler.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, once.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel cannot watch the name, for example because the user's limit of inotify
    ///   instances is reached. The handler is not set then.
    /// - Precondition: The port is in this thread's loop; add it first. If the port or the loop has ended, this does nothing and
    ///   releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onNameLoss(_ handler: @escaping (MessagePort) -> Void) throws(SystemError) {
        do { try core.onNameLoss(handler) } catch { throw error.about(MessagePort.origin(name, core.origin)) }
    }
}
