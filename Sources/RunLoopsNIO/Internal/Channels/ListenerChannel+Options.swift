#if NIO
    internal import Streams
    internal import Glibc
    internal import NIOCore

    extension ListenerChannel {
        func setNow<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws {
            guard isOpen else { throw ChannelError.ioOnClosedChannel }
            switch (option, value) {
            case (is ChannelOptions.Types.AutoReadOption, let value as Bool):
                if exchange(&input.isAutomatic, with: value) == value { return }
                input.isWanted = value
                if isActive { value ? read0() : accept() }
            case (is ChannelOptions.Types.BacklogOption, let value as CInt):
                options.backlog = Int(value)
            case (is ChannelOptions.Types.MaxMessagesPerReadOption, let value as UInt):
                input.mostConnections = min(max(value, 1), 64)
            case (is ChannelOptions.Types.AllocatorOption, let value as ByteBufferAllocator):
                allocator = value
            case (let option as ChannelOptions.Types.SocketOption, let value as SocketOptionValue):
                if option.optionLevel == .socket && option.optionName.rawValue == SO_REUSEPORT {
                    options.reusesPort = value != 0
                }
                try settings.set(option, value, on: listener?.descriptor)
            default: throw ChannelError.operationUnsupported
            }
        }

        func value<Option: ChannelOption>(of option: Option) throws -> Any {
            switch option {
            case is ChannelOptions.Types.AutoReadOption: input.isAutomatic
            case is ChannelOptions.Types.BacklogOption: CInt(clamping: options.backlog)
            case is ChannelOptions.Types.MaxMessagesPerReadOption: input.mostConnections
            case is ChannelOptions.Types.AllocatorOption: allocator
            case let option as ChannelOptions.Types.SocketOption:
                try settings.get(option, on: listener?.descriptor)
            default: throw ChannelError.operationUnsupported
            }
        }

        // MARK: - What a listener cannot do

        func connect0(to address: NIOCore.SocketAddress, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }

        func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
            promise?.fail(ChannelError.operationUnsupported)
        }

        func flush0() {}
    }
#endif
