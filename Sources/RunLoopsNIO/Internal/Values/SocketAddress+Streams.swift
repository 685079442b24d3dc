#if NIO
    internal import CRunLoops
    internal import Glibc
    internal import NIOCore
    internal import Streams

    extension NIOCore.SocketAddress {
        /// The same address for SwiftNIO; nil if it has no such address.
        init?(_ address: Streams.SocketAddress) {
            let bytes = address.bytes
            // The family is the first field of every address.
            guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
            // Safe: the sizes are checked, and a `sockaddr` of any family consists of plain bytes.
            let family = unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: sa_family_t.self) }
            switch CInt(family) {
            case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
                self.init(unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: sockaddr_in.self) })
            case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
                self.init(unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: sockaddr_in6.self) })
            case AF_UNIX:
                var name = sockaddr_un()
                // Safe: at most as many bytes are copied as the structure has.
                unsafe withUnsafeMutableBytes(of: &name) { unsafe $0.copyBytes(from: bytes.prefix($0.count)) }
                self.init(name)
            default: return nil
            }
        }

        /// The same address for Streams; nil for a kind that Streams has not, such as a Unix socket without a path.
        var forStreams: Streams.SocketAddress? {
            if let pathname { return Streams.SocketAddress(path: pathname) }
            return unsafe withSockAddr { address, size in
                // Safe: the address has this many bytes.
                let bytes = unsafe UnsafeRawBufferPointer(start: address, count: size)
                return Streams.SocketAddress(kernel: unsafe Array(bytes))
            }
        }
    }

    extension Listener.Address {
        /// The address that SwiftNIO names; nil for a kind that Streams has not.
        init?(_ address: NIOCore.SocketAddress) {
            if let path = address.pathname, !path.isEmpty {
                self = .unix(path: path)
            } else if let address = address.forStreams, let host = address.host, let port = address.port {
                self = .tcp(host: host, port: port)
            } else {
                return nil
            }
        }
    }
#endif
