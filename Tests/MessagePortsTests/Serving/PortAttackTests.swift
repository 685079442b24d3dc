import Foundation
import MessagePorts
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// A hostile process attacks a port for some time, and harms no other peer.
///
/// The attack also takes processor time. The effect of that alone on the other peers is measured by an attack on a second port,
/// on a loop of its own.
///
/// `RUNLOOPS_STRESS_ATTACK` is the number of seconds of each attack, and has the latencies printed.
@Suite struct PortAttackTests {
    @Test(arguments: ["lingering", "hoarding", "claiming", "malforming", "connecting"])
    func `while a process attacks a port, others are answered, and descriptors and memory are bounded`(
        attack: String
    ) async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [attack] in
            let asked = ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_ATTACK"].flatMap(Int.init)
            // As many descriptors as a shell gives.
            try limitDescriptors(to: 1_024)
            let victim = try AttackVictim()
            victim.measure(.rest, seconds: max(1, (asked ?? 0) / 4))
            let before = ProcessMeasure()

            let seconds = asked ?? 2
            var most = ProcessMeasure()
            // No process reads the reports of the port while it is attacked.
            let wire = try Wire.pipe()
            _ = try fill(wire)
            try withStandardError(wire.far) {
                try victim.attack(victim.otherName, attack, .attackOfOther, seconds: seconds)
                most = try victim.attack(victim.name, attack, .attack, seconds: seconds)
            }
            wire.close()

            // A loop that waits for one slow close would take longer.
            #expect(victim.longest(in: .attack) < .seconds(1) || Faults.areSlow)
            // Far from the limit at any time, and no room was made for replies that the port has not sent.
            #expect(most.descriptors < 900 && victim.port.statistics.lackingDescriptors == 0)
            #expect(most.largestSendingSpace <= before.largestSendingSpace)
            let areFew = most.residentBytes < before.residentBytes + 200_000_000
            #expect(areFew || Faults.areSlow)
            // All of it ends with its process.
            waitUntil("what it has sent is closed") {
                victim.port.statistics.connections == victim.honestCount
                    && ProcessMeasure().descriptors <= before.descriptors + 20
            }
            try victim.end()
            if asked != nil {
                complain("\(attack): \(victim.report), at most \(most); \(victim.port.statistics)")
            }
        }
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self)
        let isAsked = ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_ATTACK"] != nil
        if isAsked { complain(lines) }
    }
}

/// A port that others need while one attacks it.
private final class AttackVictim: Sendable {
    enum Phase: Int { case warmUp, rest, attackOfOther, attack, over }

    let name = "run-loops-attack-\(getpid())"
    var otherName: String { name + "-other" }
    let port: MessagePort
    private let otherPort: MessagePort
    private let thread: RunLoopThread
    private let otherThread: RunLoopThread
    private let phase = Shared(Phase.warmUp.rawValue)
    private let latencies = (Phase.warmUp.rawValue...Phase.over.rawValue).map { _ in Log<Duration>() }
    private let honest: Threads
    private let loops: Threads

    /// The number of honest peers, which send requests all the time.
    let honestCount = 3

    init() throws {
        let portName = try PortName("@" + name)
        var limits = MessagePort.Limits()
        limits.keptReplies = 100_000
        port = try MessagePort(name: portName, limits: limits)
        otherPort = try MessagePort(name: try PortName("@\(name)-other"), limits: limits)
        thread = try AttackVictim.thread(serving: port)
        otherThread = try AttackVictim.thread(serving: otherPort)
        let (phase, latencies) = (phase, latencies)
        honest = try Threads(honestCount) { index in
            let remote = try RemotePort(named: portName, before: .hang)
            while phase.count != Phase.over.rawValue {
                let now = phase.count
                let start = ContinuousClock.now
                // Some carry a descriptor, which the handler takes. A loop that waits for a close hangs longer than this.
                _ = try remote.request(
                    id: 1, descriptors: index == 0 ? [STDERR_FILENO] : [], before: start + .seconds(60))
                latencies[now].add(ContinuousClock.now - start)
                usleep(1_000)
            }
        }
        // A loop that finds no descriptor ends the program.
        loops = try Threads(1) { _ in
            while phase.count != Phase.over.rawValue {
                let thread = try RunLoopThread(name: "new")
                thread.stop()
                thread.join()
                usleep(20_000)
            }
        }
    }

    private static func thread(serving port: MessagePort) throws -> RunLoopThread {
        let thread = try RunLoopThread(name: "victim")
        try thread.runLoop.performAndWait {
            try RunLoop.current.add(port, forMode: .common) { message in AttackVictim.serve(message) }
        }
        return thread
    }

    private static func serve(_ message: consuming MessagePort.Message) {
        var message = message
        // Taken, and closed when it goes.
        if message.id == 1 { _ = message.descriptors.takeFirst() }
        if !message.isRequest { return }
        let bytes = [UInt8](repeating: 1, count: message.id == 1 ? 10 : 50_000)
        // If it throws, the requester was cut off.
        do { try message.reply(bytes) } catch {}
    }

    /// Lets a phase go on for some seconds.
    ///
    /// - Returns: The most that the process has had at any time of it.
    @discardableResult
    func measure(_ phase: Phase, seconds: Int) -> ProcessMeasure {
        self.phase.value.store(phase.rawValue, ordering: .releasing)
        let end = ContinuousClock.now + .seconds(seconds)
        var most = ProcessMeasure()
        while ContinuousClock.now < end || latencies[phase.rawValue].entries.isEmpty {
            usleep(10_000)
            most.grow(to: ProcessMeasure())
        }
        return most
    }

    /// Has a hostile process attack a port.
    ///
    /// - Returns: The most that this process has had at any time of it.
    /// - Throws: If the hostile process cannot be started.
    @discardableResult
    func attack(_ name: String, _ attack: String, _ phase: Phase, seconds: Int) throws -> ProcessMeasure {
        let hostile = try Threads(1) { _ in
            let ending = try Program("PortPeer").run("attack", name, attack, "\(seconds)", seconds: 600)
            #expect(ending.isSuccess)
        }
        let most = measure(phase, seconds: seconds)
        try hostile.join(seconds: 600)
        return most
    }

    /// The longest that an honest peer has waited for an answer in a phase.
    func longest(in phase: Phase) -> Duration { latencies[phase.rawValue].entries.max() ?? .zero }

    func end() throws {
        phase.value.store(Phase.over.rawValue, ordering: .releasing)
        try honest.join()
        try loops.join()
        for port in [port, otherPort] { port.invalidate() }
        for thread in [thread, otherThread] { thread.stop() }
    }

    /// The latencies of the honest peers.
    var report: String {
        let names: [(Phase, String)] = [
            (.rest, "at rest"), (.attackOfOther, "beside an attacked port"), (.attack, "attacked"),
        ]
        return names.map { phase, name in
            let sorted = latencies[phase.rawValue].entries.sorted()
            if sorted.isEmpty { return name }
            let (half, most) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
            let last = sorted[sorted.count - 1]
            return "\(name): \(sorted.count) requests, p50 \(half), p99 \(most), max \(last)"
        }.joined(separator: "; ")
    }
}

/// The system's resources that this process has.
private struct ProcessMeasure: CustomStringConvertible {
    var descriptors = 0
    var residentBytes = 0
    /// The most that one of its sockets may keep in the kernel.
    var largestSendingSpace = 0

    init() {
        for number in 0..<CInt(1_024) {
            if fcntl(number, F_GETFD) == -1 { continue }
            descriptors += 1
            var (space, type): (CInt, CInt) = (0, 0)
            var length = socklen_t(MemoryLayout<CInt>.size)
            // Safe, both: the kernel fills our own values. Streams are the attacker's own.
            unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length)
            if type != CInt(SOCK_SEQPACKET.rawValue) { continue }
            unsafe getsockopt(number, SOL_SOCKET, SO_SNDBUF, &space, &length)
            largestSendingSpace = max(largestSendingSpace, Int(space))
        }
        let pages = FileManager.default.contents(atPath: "/proc/self/statm").map { data in
            String(decoding: data, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
        residentBytes = ((pages ?? 0) ?? 0) * sysconf(CInt(_SC_PAGESIZE))
    }

    mutating func grow(to other: ProcessMeasure) {
        descriptors = max(descriptors, other.descriptors)
        residentBytes = max(residentBytes, other.residentBytes)
        largestSendingSpace = max(largestSendingSpace, other.largestSendingSpace)
    }

    var description: String {
        "\(descriptors) descriptors, \(residentBytes >> 20) MiB, \(largestSendingSpace) bytes of sending space"
    }
}
