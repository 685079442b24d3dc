import NIOCore
import RunLoops
import RunLoopsNIO
import Testing

actor Counter: RunLoopActor {
    nonisolated let runLoop: RunLoop
    private var count = 0

    init(on runLoop: RunLoop) { self.runLoop = runLoop }

    func next() -> Int {
        count += 1
        return count
    }
}

final class CountingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let counter: Counter

    init(_ counter: Counter) { self.counter = counter }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let number = counter.assumeIsolated { $0.next() }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\(number)\n")), promise: nil)
    }
}

struct ActorSnippets {
    @Test func `a handler calls an actor without a hop`() throws {
        let loop = try LoopThread()
        let counter = Counter(on: loop.runLoop)
        let server = try loop.bind { channel in
            try channel.pipeline.syncOperations.addHandler(CountingHandler(counter))
        }
        let client = RawClient(server)
        client.send("a")
        let first = client.read(2)
        client.send("b")
        #expect(first + client.read(2) == "1\n2\n")
        loop.end()
    }
}
