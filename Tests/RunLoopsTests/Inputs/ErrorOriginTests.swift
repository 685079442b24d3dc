import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// A thrown error names the loop or the port to which it refers.
@Suite struct ErrorOriginTests {
    @Test func `a message that was not sent names the port, and where it was made`() throws {
        let port = Port<Int>(queueLimit: 1, fileID: "Shop/Orders.swift", line: 12)
        try port.send(1)
        let full = #expect(throws: PortSendError<Int>.self) { try port.send(2, before: .now) }
        #expect(
            full.map { "\($0)" }
                == "port made at Shop/Orders.swift:12: the port stayed full until the deadline")
        let right = port.makeSendRight()
        let once = port.makeSendOnceRight(ifUnused: 0)
        port.invalidate()
        let ended = "port made at Shop/Orders.swift:12: the port has ended"
        #expect(#expect(throws: PortSendError<Int>.self) { try port.send(2) }.map { "\($0)" } == ended)
        #expect(
            #expect(throws: PortSendError<Int>.self) { try right.send(contentsOf: [1, 2]) }.map { "\($0)" }
                == ended)
        do { try once.send(1) } catch { #expect("\(error)" == ended && error.messages == [1]) }
    }

    @Test func `a request that was not answered names the port`() async throws {
        let port = Port<ReplyRight<Int>>(fileID: "Shop/Orders.swift", line: 12)
        let place = "port made at Shop/Orders.swift:12: "
        let late = await #expect(throws: RequestError(.timedOut)) {
            try await port.request(before: .now) { $0 }
        }
        #expect(late.map { "\($0)" } == place + "the deadline passed before there was an answer")
        let thread = try RunLoopThread(name: "server")
        defer { thread.stop() }
        try await thread.runLoop.performAndWait { RunLoop.current.add(port, forMode: .common) { _ in } }
        let unused = await #expect(throws: RequestError(.noReply)) { try await port.request { $0 } }
        #expect(unused.map { "\($0)" } == place + "the right to reply was destroyed unused")
        port.invalidate()
        let ended = await #expect(throws: RequestError(.invalid)) { try await port.request { $0 } }
        #expect(ended.map { "\($0)" } == place + "the port has ended")
    }

    @Test func `a block that was not run names the loop`() async throws {
        let thread = try RunLoopThread(name: "worker")
        let gate = Gate()
        thread.runLoop.perform { _ = gate.wait() }
        let late = await #expect(throws: PerformError(.timedOut)) {
            try await thread.runLoop.performAndWait(before: .now) {}
        }
        #expect(
            late.map { "\($0)" }
                == "run loop \"worker\": the deadline passed before the loop had done what was asked")
        gate.open()
        thread.stop()
        await thread.join(before: .distantFuture)
        let ended = await #expect(throws: PerformError(.loopEnded)) {
            try await thread.runLoop.performAndWait {}
        }
        #expect(
            ended.map { "\($0)" }
                == "run loop \"worker\": the loop's thread ended before it had done what was asked")
    }

    @Test func `a set without members names where it was made`() {
        let set = PortSet<Int>(fileID: "Shop/Orders.swift", line: 12)
        let error = #expect(throws: PortSetError(.noMembers)) { try set.receive() }
        #expect(error.map { "\($0)" } == "port set made at Shop/Orders.swift:12: the set has no members")
    }

    @Test func `a descriptor that the kernel does not watch is named, and a process that is none`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let source = DescriptorSource(
                wire.near, interest: .read, fileID: "Shop/Orders.swift", line: 12
            ) { _, _ in }
            let refused = #expect(throws: SystemError(call: "epoll_ctl", code: ENOSPC)) {
                try Faults.refusingWatches(ENOSPC) { try loop.add(source, forMode: .default) }
            }
            #expect(
                refused?.description.hasPrefix(
                    "source of descriptor \(wire.near) made at Shop/Orders.swift:12: epoll_ctl: ") == true)
            let nothing = #expect(throws: SystemError.self) {
                _ = try ProcessSource(CInt.max, fileID: "Shop/Orders.swift", line: 12) { _, _ in }
            }
            #expect(
                nothing?.description.hasPrefix(
                    "source of process \(CInt.max) made at Shop/Orders.swift:12: pidfd_open: ") == true)
        }
    }

    @Test func `an origin does not tell errors apart, and an error that has one keeps it`() {
        let error = RequestError(.timedOut).about("port made at Shop/Orders.swift:12")
        let plain = RequestError(.timedOut)
        #expect(error == plain && error.hashValue == plain.hashValue && error != RequestError(.noReply))
        #expect("\(plain)" == "the deadline passed before there was an answer")
        #expect("\(error)" == "port made at Shop/Orders.swift:12: \(plain)")
        #expect("\(error.about("another port"))" == "\(error)")
        #expect(MemoryLayout<ErrorOrigin>.size == MemoryLayout<Int>.size)
        #expect(MemoryLayout<PortSendError<String>>.size <= 4 * MemoryLayout<Int>.size)
    }

    @Test func `an error that a test makes has what belongs to its reason`() {
        let refused = PortSendError(.timedOut, messages: [1, 2])
        #expect(refused.reason == .timedOut && refused.messages == [1, 2])
        #expect("\(refused)" == "the port stayed full until the deadline")
        let taken = SignalSourceError(.taken, signal: SIGUSR1, ownerPlace: "main.swift:1")
        #expect("\(taken)".contains("made at main.swift:1"))
        let system = SystemError(call: "sigaction", code: EINVAL)
        #expect(SignalSourceError(.refused, signal: 1, systemError: system).systemError == system)
    }

    @Test
    func `the reason of an error is caught, compared and switched over, whether throws is typed or not`()
        throws
    {
        func fail(_ error: some Error) throws { throw error }
        do { try fail(PerformError(.timedOut)) } catch PerformError.Reason.loopEnded {
            Issue.record("the error has another reason")
        } catch RequestError.Reason.timedOut {
            Issue.record("the error is of another type")
        } catch PerformError.Reason.timedOut {}
        do { try fail(PortSetError(.noMembers)) } catch PortSetError.Reason.noMembers {}
        do { try fail(FlightRecorderError(.isRecordedAlready)) } catch FlightRecorderError.Reason
            .isRecordedAlready
        {}
        do { try fail(SignalSourceError(.refused, signal: 1)) } catch SignalSourceError.Reason.refused {}
        do throws(RequestError) { throw RequestError(.noReply) } catch  where error.reason == .noReply {
        } catch {
            Issue.record(error)
        }
        switch RequestError(.wouldDeadlock).reason {
        case .timedOut, .noReply: Issue.record("the reason is another one")
        case .wouldDeadlock: break
        default: Issue.record("the reason is not told")
        }
        let port = Port<Int>(queueLimit: 1)
        try port.send(1)
        do { try port.send(2, before: .now) } catch  where error.reason == .timedOut {}
    }
}
