import TestSupport
import Testing

@testable import RunLoops

/// The description of a public value shows its public meaning, and no implementation details.
@Suite struct DescriptionTests {
    @Test func `sets of options print the names of their members`() {
        #expect("\(DescriptorSource.Interest.read)" == "[read]")
        #expect("\([.read, .write] as DescriptorSource.Interest)" == "[read, write]")
        #expect("\([.readable, .hangUp] as DescriptorSource.Readiness)" == "[readable, hangUp]")
        #expect("\([] as DescriptorSource.Readiness)" == "[]")
        #expect("\(DescriptorSource.Readiness(rawValue: 0x42))" == "[writable, 0x40]")
        #expect("\([.beforeWaiting, .exit] as RunLoop.Activity)" == "[beforeWaiting, exit]")
        #expect("\(RunLoop.Activity.all)" == "[all]")
    }

    @Test func `ports, rights, sets, sources and observers print where they were made`() throws {
        let port = Port<String>(fileID: "Shop/Orders.swift", line: 12)
        #expect("\(port)" == "port of String made at Shop/Orders.swift:12")
        #expect("\(port.makeSendRight())" == "right to send to the port made at Shop/Orders.swift:12")
        port.invalidate()
        #expect("\(port)" == "invalid port of String made at Shop/Orders.swift:12")
        #expect("\(PortSet<Int>(fileID: "A/B.swift", line: 1))" == "port set of 0 made at A/B.swift:1")
        #expect("\(ManualSource(fileID: "A/B.swift", line: 2) {})" == "manual source made at A/B.swift:2")
        let observer = RunLoop.Observer(activities: .entry, fileID: "A/B.swift", line: 3) { _, _ in }
        #expect("\(observer)" == "observer of [entry] made at A/B.swift:3")
        let thread = try RunLoopThread(name: "worker")
        thread.stop()
        #expect("\(thread)" == "run loop thread \"worker\"")
    }

    @Test func `values print what they stand for`() {
        #expect("\(PortQueueLimit(16)), \(PortQueueLimit.unlimited)" == "16, unlimited")
        let policies: [RunLoop.WaitPolicy] = [.park, .adaptive, .spin(for: .milliseconds(1))]
        #expect(policies.map { "\($0)" } == ["park", "adaptive", "spin for 0.001 seconds"])
        #expect("\(PortSendRefusal.invalid)" == "the port has ended")
    }
}
