#if NIO
    internal import NIOCore

    extension StreamChannel {
        func setNow<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws {
            guard isOpen else { throw ChannelError.ioOnClosedChannel }
            switch (option, value) {
            case (is ChannelOptions.Types.AutoReadOption, let value as Bool): setAutomaticReading(value)
            case (is ChannelOptions.Types.AllowRemoteHalfClosureOption, let value as Bool):
                input.allowsHalfClosure = value
            case (
                is ChannelOptions.Types.WriteBufferWaterMarkOption,
                let value as ChannelOptions.Types.WriteBufferWaterMark
            ): output.marks = value
            case (is ChannelOptions.Types.MaxMessagesPerReadOption, let value as UInt):
                // NIO's own limit is 4, and a channel that reads more often keeps the others waiting.
                input.mostReads = min(max(value, 1), 16)
                input.buffers.updateCapacity(to: Int(input.mostReads))
            case (is ChannelOptions.Types.RecvAllocatorOption, let value as any RecvByteBufferAllocator):
                input.buffers.recvAllocator = value
            case (is ChannelOptions.Types.AllocatorOption, let value as ByteBufferAllocator):
                allocator = value
            case (is ChannelOptions.Types.ConnectTimeoutOption, let value as TimeAmount?):
                settings.connectTimeout = value
            // Sending stops after a fixed number of calls.
            case (is ChannelOptions.Types.WriteSpinOption, _): break
            case (let option as ChannelOptions.Types.SocketOption, let value as SocketOptionValue):
                try settings.set(option, value, on: descriptor)
            default: throw ChannelError.operationUnsupported
            }
        }

        private func setAutomaticReading(_ isAutomatic: Bool) {
            if exchange(&input.isAutomatic, with: isAutomatic) == isAutomatic { return }
            if isAutomatic { read0() } else { input.isWanted = false }
        }

        func value<Option: ChannelOption>(of option: Option) throws -> Any {
            switch option {
            case is ChannelOptions.Types.AutoReadOption: input.isAutomatic
            case is ChannelOptions.Types.AllowRemoteHalfClosureOption: input.allowsHalfClosure
            case is ChannelOptions.Types.WriteBufferWaterMarkOption: output.marks
            case is ChannelOptions.Types.MaxMessagesPerReadOption: input.mostReads
            case is ChannelOptions.Types.RecvAllocatorOption: input.buffers.recvAllocator
            case is ChannelOptions.Types.AllocatorOption: allocator
            case is ChannelOptions.Types.ConnectTimeoutOption: settings.connectTimeout as Any
            case is ChannelOptions.Types.BufferedWritableBytesOption: output.byteCount
            case is ChannelOptions.Types.WriteSpinOption: UInt(16)
            case let option as ChannelOptions.Types.SocketOption:
                try settings.get(option, on: descriptor)
            default: throw ChannelError.operationUnsupported
            }
        }
    }
#endif
