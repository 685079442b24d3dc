internal import CLoad
internal import CYardsticks
internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import RunLoops
internal import Streams

/// A receiver of datagrams on its own thread.
protocol DatagramReceiver: AnyObject {
    /// The number of the receiver's thread, for pinning.
    var number: ThreadNumber { get }
    /// The datagrams that are sent to the receiver.
    var bursts: DatagramBursts { get }
    /// Closes the socket.
    func stop() throws
}

/// The receivers that are compared.
enum DatagramPeer: CaseIterable {
    case bare, socket, nio

    /// The name in tables.
    var title: String {
        switch self {
        case .bare: "bare recvmmsg and epoll, in C"
        case .socket: "DatagramSocket"
        case .nio: "SwiftNIO, vectored reads"
        }
    }

    func start() throws -> any DatagramReceiver {
        switch self {
        case .bare: try BareReceiver()
        case .socket: try SocketReceiver()
        case .nio: try NIOReceiver()
        }
    }
}

/// The bursts of datagrams to one receiver.
///
/// `@unchecked Sendable`: the C functions hand over between the sender and the receiver, one thread each, with semaphores.
final class DatagramBursts: @unchecked Sendable {
    fileprivate let bursts: OpaquePointer

    /// Sends to a port of the loopback interface.
    init(to port: UInt16) throws {
        guard let bursts = bench_bursts_create(port) else { throw SystemError(call: "socket", code: errno) }
        self.bursts = bursts
    }

    deinit { bench_bursts_destroy(bursts) }

    /// Sends bursts on a thread, and waits until the receiver has taken all of their datagrams.
    ///
    /// - Returns: The number of allocations of this process in the meantime.
    /// - Throws: ``Miscount`` if a datagram was lost, doubled or changed.
    func run(_ count: Int, on thread: WorkerThread) throws(Miscount) -> Int {
        let (allocations, succeeded) = (CallCounter(), CallCounter())
        thread.runAndWait { [self] in
            let counted = AllocationCount()
            if bench_bursts_run(bursts, Int64(count)) { succeeded.increment() }
            allocations.add(counted.stop())
        }
        if succeeded.count == 0 { throw Miscount(expected: count * Int(bench_datagram_burst), found: -1) }
        return allocations.count
    }

    /// Checks a received datagram, on the receiver's thread.
    @inline(__always)
    func take(_ bytes: UnsafeRawBufferPointer) {
        bench_bursts_take(bursts, bytes.baseAddress, Int64(bytes.count))
    }
}

/// A receiver in C, which is the lower bound.
final class BareReceiver: DatagramReceiver {
    private let thread = WorkerThread()
    private let socket: CInt
    private let stopEvent = bench_event_open(false)
    let bursts: DatagramBursts

    init() throws {
        socket = bench_datagrams_open()
        if socket < 0 { throw SystemError(call: "socket", code: errno) }
        bursts = try DatagramBursts(to: bench_datagrams_port(socket))
        thread.run { [socket, stopEvent, bursts] in
            bench_datagrams_receive(socket, stopEvent, bursts.bursts)
        }
    }

    var number: ThreadNumber { thread.number }

    func stop() {
        bench_event_write(stopEvent)
        thread.wait()
        thread.end()
        close(stopEvent)
        close(socket)
    }
}

/// A receiver on `DatagramSocket`.
final class SocketReceiver: DatagramReceiver {
    private let thread: RunLoopThread
    let number: ThreadNumber
    let bursts: DatagramBursts

    init() throws {
        thread = try RunLoopThread(name: "datagrams")
        number = try thread.prepare(.park)
        bursts = try thread.runLoop.performAndWait {
            let socket = try DatagramSocket(.udp(host: "127.0.0.1", port: 0))
            let bursts = try DatagramBursts(to: socket.localAddress.port ?? 0)
            socket.onReceive { _, bytes, _ in bytes.withUnsafeBytes { bursts.take($0) } }
            try RunLoop.current.add(socket, forMode: .default)
            return bursts
        }
    }

    func stop() {
        thread.stop()
        thread.join()
    }
}

/// A receiver on SwiftNIO's datagram channel.
final class NIOReceiver: DatagramReceiver {
    private let loop = NIOLoop()
    private let channel: any Channel
    let bursts: DatagramBursts

    init() throws {
        let batch = Int(bench_datagram_batch)
        let channel = try DatagramBootstrap(group: loop.loop)
            .channelOption(ChannelOptions.datagramVectorReadMessageCount, value: batch)
            // The channel divides the buffer by the number of datagrams.
            .channelOption(
                ChannelOptions.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: batch * 2_048)
            )
            .bind(host: "127.0.0.1", port: 0).wait()
        let bursts = try DatagramBursts(to: UInt16(channel.localAddress?.port ?? 0))
        try loop.loop.submit {
            try channel.pipeline.syncOperations.addHandler(NIOTaking(bursts))
        }.wait()
        (self.channel, self.bursts) = (channel, bursts)
    }

    var number: ThreadNumber { loop.number }

    /// Closes the socket; the thread lasts as long as the program.
    func stop() throws { try channel.close().wait() }
}

private final class NIOTaking: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let bursts: DatagramBursts

    init(_ bursts: DatagramBursts) { self.bursts = bursts }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unwrapInboundIn(data).data.withUnsafeReadableBytes { bursts.take($0) }
    }
}
