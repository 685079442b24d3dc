#if NIO
    internal import Glibc
    internal import NIOCore

    /// The options of a channel's socket.
    ///
    /// Options that are set before there is a socket are kept, and applied to it.
    struct SocketSettings {
        private var kept: [(option: ChannelOptions.Types.SocketOption, value: SocketOptionValue)] = []
        /// The time after which an attempt to connect fails; nil for none.
        var connectTimeout: TimeAmount?

        /// Sets an option on a socket, or keeps it if there is no socket yet.
        mutating func set(
            _ option: ChannelOptions.Types.SocketOption, _ value: SocketOptionValue, on descriptor: CInt?
        ) throws(IOError) {
            if let descriptor { return try SocketSettings.apply(option, value, to: descriptor) }
            kept.removeAll { $0.option == option }
            kept.append((option, value))
        }

        /// The value of an option.
        ///
        /// - Throws: `IOError` if the kernel has no such option. Without a socket, the value that was kept, or 0.
        func get(_ option: ChannelOptions.Types.SocketOption, on descriptor: CInt?) throws(IOError)
            -> SocketOptionValue
        {
            guard let descriptor else { return kept.first { $0.option == option }?.value ?? 0 }
            var value: SocketOptionValue = 0
            var size = socklen_t(MemoryLayout<SocketOptionValue>.size)
            // Safe: the kernel writes at most `size` bytes to a local variable.
            let result = unsafe getsockopt(
                descriptor, option.optionLevel.rawValue, option.optionName.rawValue, &value, &size)
            if result == -1 { throw IOError(errnoCode: errno, reason: "getsockopt") }
            return value
        }

        /// Applies the kept options to a socket.
        mutating func apply(to descriptor: CInt) throws(IOError) {
            for (option, value) in exchange(&kept, with: []) {
                try SocketSettings.apply(option, value, to: descriptor)
            }
        }

        private static func apply(
            _ option: ChannelOptions.Types.SocketOption, _ value: SocketOptionValue, to descriptor: CInt
        ) throws(IOError) {
            let level = option.optionLevel.rawValue
            let name = option.optionName.rawValue
            // As SwiftNIO does, the whole integer is passed, so that its halves can be the two fields of SO_LINGER.
            var number = value
            // Safe: the kernel reads a local variable.
            let result = unsafe setsockopt(
                descriptor, level, name, &number, socklen_t(MemoryLayout<SocketOptionValue>.size))
            // A Unix socket has no options of TCP; bootstraps set them without knowing the kind of the address.
            if result == 0 || level == CInt(IPPROTO_TCP) && (errno == EOPNOTSUPP || errno == ENOPROTOOPT) {
                return
            }
            throw IOError(errnoCode: errno, reason: "setsockopt")
        }
    }
#endif
