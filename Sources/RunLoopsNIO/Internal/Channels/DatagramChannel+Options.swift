#if NIO
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    extension DatagramChannel {
        func setNow<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws {
            guard isOpen else { throw ChannelError.ioOnClosedChannel }
            switch (option, value) {
            case (is ChannelOptions.Types.AutoReadOption, let value as Bool): setAutomaticReading(value)
            case (
                is ChannelOptions.Types.WriteBufferWaterMarkOption,
                let value as ChannelOptions.Types.WriteBufferWaterMark
            ): output.marks = value
            case (is ChannelOptions.Types.MaxMessagesPerReadOption, let value as UInt):
                input.mostDatagrams = min(max(value, 1), UInt(DatagramInput.mostWaiting))
            case (is ChannelOptions.Types.AllocatorOption, let value as ByteBufferAllocator):
                allocator = value
            // The socket receives and sends many datagrams with one call, into memory of its own.
            case (is ChannelOptions.Types.DatagramVectorReadMessageCountOption, _),
                (is ChannelOptions.Types.RecvAllocatorOption, _),
                (is ChannelOptions.Types.WriteSpinOption, _):
                break
            case (let option as ChannelOptions.Types.SocketOption, let value as SocketOptionValue):
                if option.optionLevel == .socket && option.optionName.rawValue == SO_REUSEPORT {
                    options.reusesPort = value != 0
                }
                try settings.set(option, value, on: socket?.optionsDescriptor)
            default: throw ChannelError.operationUnsupported
            }
        }

        private func setAutomaticReading(_ isAutomatic: Bool) {
            if exchange(&input.isAutomatic, with: isAutomatic) == isAutomatic { return }
            input.isWanted = isAutomatic
            if isActive { isAutomatic ? read0() : updateReceiving() }
        }

        func value<Option: ChannelOption>(of option: Option) throws -> Any {
            switch option {
            case is ChannelOptions.Types.AutoReadOption: input.isAutomatic
            case is ChannelOptions.Types.WriteBufferWaterMarkOption: output.marks
            case is ChannelOptions.Types.MaxMessagesPerReadOption: input.mostDatagrams
            case is ChannelOptions.Types.AllocatorOption: allocator
            case is ChannelOptions.Types.BufferedWritableBytesOption: output.byteCount
            case let option as ChannelOptions.Types.SocketOption:
                try settings.get(option, on: socket?.optionsDescriptor)
            default: throw ChannelError.operationUnsupported
            }
        }
    }

    extension DatagramChannel: MulticastChannel {
        func joinGroup(
            _ group: NIOCore.SocketAddress, device: NIONetworkDevice?, promise: EventLoopPromise<Void>?
        ) {
            change(promise) { [name = device?.name] socket throws(SystemError) in
                try socket.joinGroup(group.ipAddress ?? "", interface: name)
            }
        }

        func leaveGroup(
            _ group: NIOCore.SocketAddress, device: NIONetworkDevice?, promise: EventLoopPromise<Void>?
        ) {
            change(promise) { [name = device?.name] socket throws(SystemError) in
                try socket.leaveGroup(group.ipAddress ?? "", interface: name)
            }
        }

        @available(*, deprecated, renamed: "joinGroup(_:device:promise:)")
        func joinGroup(
            _ group: NIOCore.SocketAddress, interface: NIONetworkInterface?, promise: EventLoopPromise<Void>?
        ) { joinGroup(group, device: interface.map { NIONetworkDevice($0) }, promise: promise) }

        @available(*, deprecated, renamed: "leaveGroup(_:device:promise:)")
        func leaveGroup(
            _ group: NIOCore.SocketAddress, interface: NIONetworkInterface?, promise: EventLoopPromise<Void>?
        ) { leaveGroup(group, device: interface.map { NIONetworkDevice($0) }, promise: promise) }

        /// Changes the socket's groups, on the loop's thread.
        private func change(
            _ promise: EventLoopPromise<Void>?,
            _ body: @escaping @Sendable (DatagramSocket) throws(SystemError) -> Void
        ) {
            if !loop.inEventLoop { return loop.execute { self.change(promise, body) } }
            guard let socket else {
                return promise.refuse(
                    isOpen ? ChannelError.inappropriateOperationForState : .ioOnClosedChannel)
            }
            do throws(SystemError) {
                try body(socket)
                promise?.succeed(())
            } catch { promise.refuse(error) }
        }
    }
#endif
