import NIOCore
import NIOPosix

private let shape: Set<Backend.Kind> = [.runLoop]

/// A channel over pipes, and the other ends.
private struct Far {
    let channel: any Channel
    let child = ChildPipes()

    init(
        _ backend: Backend, _ log: Log, halfClosure: Bool = false,
        _ handler: (any ChannelHandler & Sendable)? = nil
    ) throws {
        channel = try backend.pipe(over: child, halfClosure: halfClosure) { channel in
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            if let handler { try channel.pipeline.syncOperations.addHandler(handler) }
        }.wait()
        log.wait(for: "active:true")
    }
}

let pipeRows = [
    Comparison("bytes through pipes, and the end", kinds: shape) { backend in
        let log = Log()
        let far = try Far(backend, log, Echo())
        far.child.send("hello")
        log.wait(for: "complete")
        far.child.endOutput()
        log.wait(for: "removed")
        let rest = far.child.rest()
        far.child.endInput()
        return "\(rest) \(log.text)"
    },
    Comparison("half-closure of pipes by the other side", kinds: shape) { backend in
        let log = Log()
        let far = try Far(backend, log, halfClosure: true)
        far.child.endOutput()
        log.wait(for: "event:inputClosed")
        let sent = result(far.channel.writeAndFlush(ByteBuffer(string: "late")))
        try far.channel.close().wait()
        log.wait(for: "removed")
        let rest = far.child.rest()
        far.child.endInput()
        return "\(sent) \(rest) \(log.text)"
    },
    Comparison("half-closure of pipes by this side", kinds: shape) { backend in
        let log = Log()
        let far = try Far(backend, log)
        try far.channel.writeAndFlush(ByteBuffer(string: "last words")).wait()
        let end = result(far.channel.close(mode: .output))
        let rest = far.child.rest()
        far.child.send("still here")
        log.wait(for: "read:still here")
        far.child.endOutput()
        far.child.endInput()
        log.wait(for: "removed")
        return "\(end) \(rest) \(log.text)"
    },
    Comparison("a pipe whose reader is gone", kinds: shape) { backend in
        let log = Log()
        let far = try Far(backend, log)
        far.child.endInput()
        // The write fails, or the channel is closed before it: which of both comes first is the kernel's.
        let sent = result(far.channel.writeAndFlush(ByteBuffer(string: "x")))
        log.wait(for: "removed")
        far.child.endOutput()
        return "\(sent == "ok") \(far.channel.isActive) \(log.text.hasSuffix("removed"))"
    },
]
