import Foundation
import MessagePorts
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// A hostile process attacks a port for some time, and does not harm other peers.
///
/// The attack also uses processor time. An attack on a second port, on a loop of its own, measures the effect of that alone.
///
/// `RUNLOOPS_STRESS_ATTACK` sets the number of seconds of each attack, and has the latencies printed.
@Suite struct PortAttackTests {
    // Guarantees: The limits that a peer states do not make the kernel set aside memory.
    @Test(arguments: ["lingering", "hoarding", "claiming", "malforming", "connecting"])
    func `while a process attacks a port, others are answered, and descriptors and memory are bounded`(
        attack: String
    ) async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [attack] in
            let asked = ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_ATTACK"].flatMap(Int.init)
            // The usual limit of a shell.
            try limitDescriptors(to: 1_024)
            let victim = try AttackVictim()
            victim.measure(.rest, seconds: max(1, (asked ?? 0) / 4))
            let before = ProcessMeasure()

            let seconds = asked ?? 1
            var most = ProcessMeasure()
            // During the attack, standard error is a full pipe that no process reads.
            let wire = try Wire.pipe()
            _ = try fill(wire)
            try withStandardError(wire.far) {
                try victim.attack(victim.otherName, attack, .attackOfOther, seconds: seconds)
                most = try victim.attack(victim.name, attack, .attack, seconds: seconds)
            }
            wire.close()

            // The number of descriptors is always far below the limit, and no buffer has grown for a reply that was not sent.
            #expect(most.descriptors < 900 && victim.port.statistics.lackingDescriptors == 0)
            #expect(most.largestSendingSpace <= before.largestSendingSpace)
            let areFew = most.residentBytes < before.residentBytes + 200_000_000
            #expect(areFew || Faults.areSlow)
            // When the attacker has ended, all its connections and descriptors are closed.
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

/// A port under attack, with honest peers.
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

    /// The number of honest peers, which send requests continuously.
    let honestCount = 3

    init() throws {
        let portName = try PortName("@" + name)
        var limits = MessagePort.Options()
        limits.keptReplyByteLimit = 100_000
        port = try MessagePort(named: portName, options: limits)
        otherPort = try MessagePort(named: try PortName("@\(name)-other"), options: limits)
        thread = try AttackVictim.thread(serving: port)
        otherThread = try AttackVictim.thread(serving: otherPort)
        let (phase, latencies) = (phase, latencies)
        honest = try Threads(honestCount) { index in
            let remote = try RemotePort(named: portName, before: .hang)
            while phase.count != Phase.over.rawValue {
                let now = phase.count
                let start = ContinuousClock.now
                // Some requests carry a descriptor, which the handler takes. A loop that waits for a close exceeds this deadline.
                _ = try remote.request(
                    id: 1, descriptors: index == 0 ? [STDERR_FILENO] : [], before: start + .seconds(60))
                latencies[now].add(ContinuousClock.now - start)
                usleep(1_000)
            }
        }
        // If no descriptor is left for a new loop, the loop ends the program.
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
        // The descriptor is taken, and closed when it is destroyed.
        if message.id == 1 { _ = message.descriptors.takeFirst() }
        if !message.isRequest { return }
        let bytes = [UInt8](repeating: 1, count: message.id == 1 ? 10 : 50_000)
        // If this throws, the requester has lost its connection.
        do { try message.reply(bytes) } catch {}
    }

    /// Stays in a phase for some seconds.
    ///
    /// - Returns: The largest values of this process during the phase.
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
    /// - Returns: The largest values of this process during the attack.
    /// - Throws: An error if the hostile process cannot be started.
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

    /// The longest time that an honest peer waited for a reply in a phase.
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

/// The system resources of this process.
private struct ProcessMeasure: CustomStringConvertible {
    var descriptors = 0
    var residentBytes = 0
    /// The size of the largest send buffer among the sockets of ports.
    var largestSendingSpace = 0

    init() {
        for number in 0..<CInt(1_024) {
            if fcntl(number, F_GETFD) == -1 { continue }
            descriptors += 1
            var (space, type): (CInt, CInt) = (0, 0)
            var length = socklen_t(MemoryLayout<CInt>.size)
            // Safe, both: the kernel fills local variables. Stream sockets belong to the attacker.
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
