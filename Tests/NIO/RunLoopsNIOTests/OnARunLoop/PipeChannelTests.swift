import Glibc
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import Testing

/// Channels over pipes and other descriptors on a run loop.
struct PipeChannelTests {
    private func bootstrap(_ loop: LoopThread, _ log: Log) -> RunLoopPipeBootstrap {
        RunLoopPipeBootstrap(group: loop.eventLoop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Recorder(log))
            }
        }
    }

    @Test func `one descriptor carries a channel in both directions`() throws {
        let loop = try LoopThread()
        let log = Log()
        var ends: [CInt] = [0, 0]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let channel = try bootstrap(loop, log).takingOwnershipOfDescriptor(
            inputOutput: OwnedDescriptor(ends[0])
        ).wait()
        let peer = ends[1]
        #expect(write(peer, "abc", 3) == 3)
        log.wait(for: "read:abc")
        try channel.writeAndFlush(ByteBuffer(string: "def")).wait()
        var bytes = [UInt8](repeating: 0, count: 3)
        #expect(read(peer, &bytes, 3) == 3 && bytes == Array("def".utf8))
        close(peer)
        log.wait(for: "removed")
        loop.end()
    }

    @Test func `more bytes than a pipe holds arrive in order, with all promises`() async throws {
        let loop = try LoopThread()
        let log = Log()
        let child = ChildPipes()
        let channel = try await RunLoopPipeBootstrap(group: loop.eventLoop).takingOwnershipOfDescriptors(
            input: child.fromChild(), output: child.toChild()
        ) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Recorder(log))
                return channel
            }
        }
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let sent = channel.eventLoop.flatSubmit {
            for start in stride(from: 0, to: bytes.count, by: 10_000) {
                channel.write(ByteBuffer(bytes: bytes[start..<start + 10_000]), promise: nil)
            }
            return channel.writeAndFlush(ByteBuffer())
        }
        let received = child.read(bytes.count)
        try await sent.get()
        #expect(received == bytes)
        try await channel.close()
        #expect(child.rest() == "")
        child.endInput()
        child.endOutput()
        loop.thread.stop()
        await loop.thread.join()
    }

    @Test func `a descriptor can be open in one direction only`() throws {
        let loop = try LoopThread()
        let child = ChildPipes()
        let (reads, writes) = (Log(), Log())
        let reader = try bootstrap(loop, reads).takingOwnershipOfDescriptor(
            inputOutput: child.fromChild()
        ).wait()
        let writer = try bootstrap(loop, writes).takingOwnershipOfDescriptor(
            inputOutput: child.toChild()
        ).wait()
        child.send("abc")
        reads.wait(for: "read:abc")
        try writer.writeAndFlush(ByteBuffer(string: "def")).wait()
        #expect(child.read(3) == Array("def".utf8))
        #expect(result(reader.writeAndFlush(ByteBuffer(string: "x"))) != "ok")
        child.endOutput()
        reads.wait(for: "removed")
        #expect(writer.isActive)
        child.endInput()
        writes.wait(for: "removed")
        loop.end()
    }

    @Test func `files and closed descriptors are errors`() throws {
        let loop = try LoopThread()
        let file = open("/proc/self/exe", O_RDONLY)
        #expect(
            result(bootstrap(loop, Log()).takingOwnershipOfDescriptor(inputOutput: OwnedDescriptor(file)))
                == "errno-\(EPERM)")
        loop.end()
    }
}
