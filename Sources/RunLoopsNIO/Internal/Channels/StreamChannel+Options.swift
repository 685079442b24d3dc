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
            let old = input.isAutomatic
            input.isAutomatic = isAutomatic
            if isAutomatic == old { return }
            if isAutomatic { read0() } else { input.isWanted = false }
        }

        func getNow<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
            guard isOpen else { throw ChannelError.ioOnClosedChannel }
            let value: Any
            switch option {
            case is ChannelOptions.Types.AutoReadOption: value = input.isAutomatic
            case is ChannelOptions.Types.AllowRemoteHalfClosureOption: value = input.allowsHalfClosure
            case is ChannelOptions.Types.WriteBufferWaterMarkOption: value = output.marks
            case is ChannelOptions.Types.MaxMessagesPerReadOption: value = input.mostReads
            case is ChannelOptions.Types.RecvAllocatorOption: value = input.buffers.recvAllocator
            case is ChannelOptions.Types.AllocatorOption: value = allocator
            case is ChannelOptions.Types.ConnectTimeoutOption: value = settings.connectTimeout as Any
            case is ChannelOptions.Types.BufferedWritableBytesOption: value = output.byteCount
            case is ChannelOptions.Types.WriteSpinOption: value = UInt(16)
            case let option as ChannelOptions.Types.SocketOption:
                value = try settings.get(option, on: descriptor)
            default: throw ChannelError.operationUnsupported
            }
            guard let value = value as? Option.Value else { throw ChannelError.operationUnsupported }
            return value
        }
    }
#endif
