internal import CLoad
internal import CThreadControl
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A thread that runs a SwiftNIO event loop.
final class NIOLoop: Sendable {
    /// The loop, which takes blocks with `execute`.
    let loop: any EventLoop
    /// The number of the loop's thread, for pinning.
    let number: ThreadNumber

    init() {
        // A group of one thread, which lasts as long as the program.
        loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        guard let number = try? loop.submit({ ThreadNumber.current }).wait() else {
            fatalError("NIOLoop.init: a new event loop refused a block")
        }
        self.number = number
    }
}

/// The wake-up of a sleeping SwiftNIO event loop with `execute`.
///
/// Read the ratio of this package's `perform` to this figure.
final class NIOPingPong: PingPong {
    private let near = NIOLoop()
    private let far = NIOLoop()
    private let timer: RoundTripTimer

    init(timer: RoundTripTimer) { self.timer = timer }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.loop.execute { [near, far, timer] in
            timer.begin()
            Self.ping(near.loop, far.loop, timer)
        }
    }

    private static func ping(_ near: any EventLoop, _ far: any EventLoop, _ timer: RoundTripTimer) {
        far.execute {
            near.execute {
                if timer.answered() { ping(near, far, timer) }
            }
        }
    }
}

/// SwiftNIO's `execute` with a closure that captures one object.
final class NIOChannel: MessageChannel {
    private let loop = NIOLoop()
    private let payloads: [Payload]

    init(sink: Sink) { payloads = Payload.each(for: sink) }

    var consumerThreads: [ThreadNumber] { [loop.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let payload = payloads[producer]
        let loop = loop.loop
        for _ in 0..<count { loop.execute { payload.deliver() } }
        return count &* payload.value
    }
}

/// SwiftNIO's `scheduleTask`.
final class NIOOneShotTimer: OneShotTimer {
    private let loop = NIOLoop()

    var threads: [ThreadNumber] { [loop.number] }

    func start(_ series: TimerSeries) {
        loop.loop.execute { [loop] in Self.scheduleNext(of: series, on: loop) }
    }

    private static func scheduleNext(of series: TimerSeries, on loop: NIOLoop) {
        let deadline = bench_now() + series.next()
        loop.loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(deadline))) {
            if series.fired(late: bench_now() - deadline) { scheduleNext(of: series, on: loop) }
        }
    }
}

/// SwiftNIO's `scheduleTask`, on the loop's own thread.
final class NIOPendingTimers: PendingTimerArray, @unchecked Sendable {
    // Safe because only the loop's thread uses the mutable state.
    private let loop = NIOLoop()
    let pending: Int
    private let fires = CallCounter()
    var timers: [Scheduled<Void>] = []
    private var start = NIODeadline.now()

    init(pending: Int) { self.pending = pending }

    var number: ThreadNumber { loop.number }

    func onThread(_ job: @escaping @Sendable () -> Void) {
        let parker = Parker()
        loop.loop.execute {
            job()
            parker.unpark()
        }
        parker.park()
    }

    func begin() { start = .now() + .hours(10) }

    func add(at index: Int) -> Scheduled<Void> {
        loop.loop.scheduleTask(deadline: start + .milliseconds(Int64(index))) { [fires] in fires.increment() }
    }

    func cancel(_ timer: Scheduled<Void>) { timer.cancel() }

    /// Does nothing, because the loop cannot run inside one of its own jobs.
    func fireSome(_ count: Int) throws(Miscount) {}
}

/// A SwiftNIO server with a handler that counts requests and writes an answer for each.
final class NIOPingServer: PingServer {
    private let loop = NIOLoop()
    private let channel: any Channel
    let port: UInt16

    init(_ port: UInt16) throws {
        channel = try ServerBootstrap(group: loop.loop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOPingHandler())
                }
            }
            .bind(host: "127.0.0.1", port: Int(port)).wait()
        self.port = UInt16(channel.localAddress?.port ?? 0)
    }

    var number: ThreadNumber { loop.number }

    /// Stops listening; the clients close their connections, and the thread lasts as long as the program.
    func stop() throws { try channel.close().wait() }
}

/// Answers the requests of one connection.
private final class NIOPingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let answer = ByteBuffer(string: BENCH_PING_ANSWER)
    private var position: Int32 = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let requests = unwrapInboundIn(data).withUnsafeReadableBytes { bytes in
            bench_ping_requests(&position, bytes.baseAddress, Int64(bytes.count))
        }
        if requests < 0 { return context.close(promise: nil) }
        for _ in 0..<requests { context.write(wrapOutboundOut(Self.answer), promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
