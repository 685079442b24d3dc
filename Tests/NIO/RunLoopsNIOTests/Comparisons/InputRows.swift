import NIOCore

let inputRows = [
    Comparison("the events of a connection whose peer closes") { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("a")
        log.wait(for: "complete")
        client.close()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("a channel without autoRead reads once for each read()") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let barrier = try backend.barrier()
        let server = try backend.bind { channel in
            try channel.syncOptions!.setOption(.autoRead, value: false)
            try channel.pipeline.syncOperations.addHandler(Recorder(log))
            child.put(channel)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("a")
        backend.passBarrier(barrier)
        log.note("|")
        child.get().read()
        log.wait(for: "complete")
        client.send("b")
        backend.passBarrier(barrier)
        log.note("|")
        child.get().read()
        log.wait(for: "complete", times: 2)
        return log.text
    },
    Comparison("a read() before the bytes is kept") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let barrier = try backend.barrier()
        let server = try backend.listener {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }.childOption(.autoRead, false).bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "active:true")
        child.get().read()
        backend.passBarrier(barrier)
        client.send("a")
        log.wait(for: "complete")
        client.send("b")
        backend.passBarrier(barrier)
        return log.text
    },
    Comparison("autoRead is turned off and on") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let barrier = try backend.barrier()
        let server = try backend.bind(halfClosure: true) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }
        let client = RawClient(server)
        log.wait(for: "active:true")
        try child.get().setOption(.autoRead, value: false).wait()
        client.send("a")
        backend.passBarrier(barrier)
        log.note("|")
        try child.get().setOption(.autoRead, value: true).wait()
        log.wait(for: "read:a")
        client.close()
        log.wait(for: "event:inputClosed")
        return log.text
    },
    Comparison("autoRead is turned off in channelRead") { backend in
        let log = Log()
        let barrier = try backend.barrier()
        let child = Place<any Channel>()
        let server = try backend.bind { channel in
            try channel.pipeline.syncOperations.addHandlers([
                Reacting(read: { context, _ in
                    _ = context.channel.setOption(.autoRead, value: false)
                }), Recorder(log),
            ])
            child.put(channel)
        }
        let client = RawClient(server)
        client.send("a")
        log.wait(for: "complete")
        client.send("b")
        backend.passBarrier(barrier)
        log.note("|")
        child.get().read()
        log.wait(for: "complete", times: 2)
        return log.text
    },
    Comparison("half-closure by the peer, and then an answer") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.bind(halfClosure: true) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }
        let client = RawClient(server)
        client.send("ab")
        client.endOutput()
        log.wait(for: "event:inputClosed")
        try child.get().writeAndFlush(ByteBuffer(string: "answer")).wait()
        let answer = client.read(6)
        let isOpen = child.get().isActive
        try child.get().close(mode: .output).wait()
        let end = client.read(1)
        log.wait(for: "removed")
        return "\(log.text) / \(answer) \(isOpen) \(end)"
    },
    Comparison("a paused channel whose peer ends the stream") { backend in
        let log = Log()
        let server = try backend.listener { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .childOption(.autoRead, false).bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("unread")
        client.endOutput()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("a paused channel, with half-closure, whose peer ends the stream") { backend in
        let log = Log()
        let child = Place<any Channel>()
        let server = try backend.listener(halfClosure: true) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
            child.put($0)
        }.childOption(.autoRead, false).bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("unread")
        client.endOutput()
        log.wait(for: "event:inputClosed")
        let late = child.get()
        late.read()
        return log.text + " " + result(late.writeAndFlush(ByteBuffer(string: "x"))) + client.read(1)
    },
    Comparison("reset by the peer") { backend in
        let log = Log()
        let server = try backend.bind { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
        let client = RawClient(server)
        client.send("a")
        log.wait(for: "complete")
        client.reset()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("a paused channel hears that its peer has reset the connection") { backend in
        let log = Log()
        let barrier = try backend.barrier()
        let server = try backend.listener { try $0.pipeline.syncOperations.addHandler(Recorder(log)) }
            .childOption(.autoRead, false).bind(host: "127.0.0.1", port: 0).wait()
        let client = RawClient(server)
        log.wait(for: "active:true")
        client.send("unread")
        backend.passBarrier(barrier)
        client.reset()
        log.wait(for: "removed")
        return log.text
    },
    Comparison(
        "reset by the peer after its half-closure",
        differences: .init(
            reason: "NIOPosix tries to read again after the end, and reports the end of that read",
            onRunLoop:
                "added registered active:true read:a complete complete event:inputClosed inactive:false "
                + "unregistered removed")
    ) { backend in
        let log = Log()
        let server = try backend.bind(halfClosure: true) {
            try $0.pipeline.syncOperations.addHandler(Recorder(log))
        }
        let client = RawClient(server)
        client.send("a")
        client.endOutput()
        log.wait(for: "event:inputClosed")
        client.reset()
        log.wait(for: "removed")
        return log.text
    },
    Comparison("many bytes arrive in order") { backend in
        let log = Log()
        let count = 1 << 20
        let sum = Place<Int>()
        let server = try backend.bind { channel in
            var received = ""
            try channel.pipeline.syncOperations.addHandler(
                Reacting(read: { _, text in
                    received += text
                    if received.utf8.count == count { sum.put(received.hashValue) }
                }))
        }
        let text = String((0..<count).map { Character(Unicode.Scalar(UInt8(33 + $0 % 90))) })
        let client = RawClient(server)
        client.send(text)
        return "\(sum.get() == text.hashValue) \(log.text)"
    },
]
