import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// A refused system call is repeated, or ends the connection with a reason; no earlier byte is lost.
@Suite struct ConnectionFaultTests {
    /// Refuses one system call of a connection, and returns the reason with which the connection ends.
    private func reason(_ call: Faults.Call, _ code: CInt) throws -> Connection.EndReason? {
        try onLoopThread { loop in
            let pair = try Pair()
            var reason: Connection.EndReason?
            pair.connection.onFrame(.lines()) { connection, line in connection.write(line) }
            pair.connection.onEnd { reason = $1 }
            try loop.add(pair.connection, forMode: .default)
            try pair.send("line\n")
            Faults.refuse(call, code)
            loop.settle()
            return reason
        }
    }

    @Test func `interrupted calls are repeated`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var connection: Connection?
            try loop.add(listener, forMode: .default) { accepted in
                let made = Connection(accepted)
                made.onFrame(.lines()) { connection, line in connection.write(line) }
                recorded { try loop.add(made, forMode: .default) }
                connection = made
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            interrupted(.accept, times: 1) { loop.settle() }
            loop.settle()
            #expect(connection != nil)
            _ = try Loopback.write(Array("line\n".utf8), to: client)
            interrupted(.recv) { interrupted(.send) { loop.settle() } }
            #expect(try Loopback.read(client) == Array("line".utf8))
            connection?.close()
            listener.invalidate()
        }
    }

    @Test(arguments: [ECONNRESET, ETIMEDOUT, ENOBUFS, ENOMEM])
    func `an error of receiving ends the connection with its reason`(code: CInt) throws {
        let isReset = code == ECONNRESET || code == ETIMEDOUT
        let expected = isReset ? .reset : Connection.EndReason.failed(SystemError(call: "recv", code: code))
        #expect(try reason(.recv, code) == expected)
    }

    @Test(arguments: [EPIPE, ECONNRESET, ENOBUFS, EACCES])
    func `an error of sending ends the connection with its reason`(code: CInt) throws {
        let isReset = code == ECONNRESET || code == EPIPE
        let expected = isReset ? .reset : Connection.EndReason.failed(SystemError(call: "send", code: code))
        #expect(try reason(.send, code) == expected)
    }

    @Test func `a connection that the kernel does not watch is as before, and can be added again`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            pair.connection.onFrame(.lines()) { connection, line in connection.write(line) }
            try pair.send("line\n")
            #expect(throws: SystemError(call: "epoll_ctl", code: ENOSPC)) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(pair.connection, forMode: .default) }
            }
            #expect(loop.run(in: .default, until: .distantPast) == .finished, "nothing keeps the mode alive")
            #expect(pair.connection.isOpen)
            try loop.add(pair.connection, forMode: .default)
            loop.settle()
            #expect(try pair.read() == "line")
        }
    }

    @Test(arguments: [ENOBUFS, ENOMEM, EPERM, EACCES, ENOSYS, EINVAL, EFAULT])
    func `a listener whose calls are refused pauses each time, says so, and goes on`(code: CInt) throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var errors: [CInt] = []
            listener.onPause { _, error in errors.append(error.code) }
            try loop.add(listener, forMode: .default) { accepted in
                _ = accepted.release()
                listener.invalidate()
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            Faults.refuse(.accept, code, times: 3)
            let calls = Faults.calls(.accept)
            loop.run()
            #expect(errors == [code, code, code])
            #expect(listener.statistics.accepted == 1 && listener.statistics.pauses == 3)
            #expect(Faults.calls(.accept) - calls <= 5, "three refused calls, and one that succeeds")
        }
    }

    @Test func `a connection that was given up before it is accepted is passed over`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { accepted in
                _ = accepted.release()
                listener.invalidate()
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            for code in [ECONNABORTED, EPROTO, EHOSTUNREACH] { Faults.refuse(.accept, code) }
            Faults.refuse(.accept, ECONNABORTED, times: 3)
            loop.run()
            #expect(listener.statistics.accepted == 1)
            #expect(listener.statistics.pauses == 0)
        }
    }

    @Test func `a listener does not spin if every connection seems to fail`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var errors: [CInt] = []
            listener.onPause { _, error in errors.append(error.code) }
            try loop.add(listener, forMode: .default) { accepted in
                _ = accepted.release()
                listener.invalidate()
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            Faults.refuse(.accept, EOPNOTSUPP, times: 130)
            loop.run()
            #expect(errors == [EOPNOTSUPP, EOPNOTSUPP], "one pause for 65 failures in a row")
            #expect(listener.statistics.accepted == 1)
        }
    }

    @Test func `connecting survives a lack of descriptors at every step`() async {
        await #expect(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            try onLoopThread { loop in
                let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
                try loop.add(listener, forMode: .default) { accepted in _ = accepted.release() }
                loop.pass()
                var made = 0
                for allowed in 0..<12 {
                    try limitDescriptors(to: bound + allowed)
                    let connection = Connection(connectingTo: .address(listener.localAddress))
                    var reason: Connection.EndReason?
                    connection.onConnect { _ in made += 1 }
                    connection.onEnd { reason = $1 }
                    do throws(SystemError) { try loop.add(connection, forMode: .default) } catch {
                        try #require(error.code == EMFILE)
                        continue
                    }
                    let end = ContinuousClock.Instant.hang
                    while reason == nil && ContinuousClock.now < end {
                        loop.run(until: .now + .milliseconds(1))
                    }
                    try #require(reason != nil)
                    if case .failed(let error) = reason { try #require(error.code == EMFILE) }
                }
                try #require(made > 0)
                try refuseNoDescriptors(from: bound)
                listener.invalidate()
            }
        }
    }

    @Test func `a change of mode asks the kernel for no new place`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            pair.connection.onFrame(.lines()) { connection, line in connection.write(line) }
            try loop.add(pair.connection, forMode: .default)
            let mode = RunLoop.Mode("other")
            let keep = Timer(timeInterval: .seconds(600), repeats: false) { _ in }
            loop.add(keep, forMode: mode)
            loop.pass()
            try pair.send("line\n")
            Faults.refusingWatches(ENOSPC) {
                loop.pass(in: mode)
                let read = recorded { try pair.read() } ?? nil
                #expect(read == nil, "the other mode has no connection")
                loop.settle()
            }
            #expect(try pair.read() == "line")
        }
    }

    /// Setting a handler releases the one before it, and that can destroy an object that uses the connection.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() throws {
        try onLoopThread { loop in
            let pair = try Pair()
            let connection = pair.connection
            var calls: [String] = []
            connection.onConnect { [parting = Parting { connection.onConnect { _ in } }] _ in parting.hold() }
            connection.onConnect { _ in }
            connection.onDrained { [parting = Parting { connection.onDrained { _ in } }] _ in parting.hold() }
            connection.onDrained { _ in }
            connection.onReceive { [parting = Parting { connection.onReceive(take(_:_:)) }] _, bytes in
                parting.hold()
                return bytes.byteCount
            }
            connection.onFrame(.lines()) { _, _ in calls.append("replaced") }
            connection.onInputEnd {
                [
                    parting = Parting {
                        connection.onInputEnd {
                            calls.append("input end"); $0.close()
                        }
                    }
                ] _ in
                parting.hold()
            }
            connection.onInputEnd { _ in }
            connection.onEnd {
                [parting = Parting { connection.onEnd { _, _ in calls.append("end") } }] _, _ in
                parting.hold()
            }
            connection.onEnd { _, _ in }
            func take(_: Connection, _ bytes: RawSpan) -> Int {
                calls.append(text(bytes))
                return bytes.byteCount
            }
            try loop.add(connection, forMode: .default)
            try pair.send("half a line")
            pair.endSending()
            loop.run(until: "the connection has ended") { calls.last == "end" }
            #expect(calls == ["half a line", "input end", "end"])
        }
    }
}
