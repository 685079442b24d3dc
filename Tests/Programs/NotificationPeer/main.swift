import DistributedNotifications
import Glibc
import MessagePorts
import RunLoops
import TestSupport

/// A process of a fleet that a test kills and stops: it posts, observes or serves, and writes its actions to a file.
///
/// The arguments are the role, the directory of names, the file, and one more for some roles: the number of posts of a poster, the
/// number of observers of a crowd, or the bytes with which an impostor greets the hub. Each line of the file is written by one
/// call, so that a killed process leaves whole lines.
alarm(300)
let arguments = CommandLine.arguments
let name = try PortName("fleet")
let names = PortNames(directory: arguments[2])
let journal = try Journal(arguments[3])

var options = DistributedNotificationCenter.Options()
options.reconnectTimeout = .seconds(2)
options.keptPostLimit = 256

switch arguments[1] {
case "hub":
    let hub = try DistributedNotificationHub(named: name, in: names)
    journal.write("serves")
    hub.waitUntilInvalid()
case "observe":
    let center = try DistributedNotificationCenter(.hub(named: name, in: names), options: options)
    let observation = center.addObserver(forName: "a", on: .main) { event in
        switch event {
        case .notification(let note):
            journal.write("note \(note.poster) \(note.number) \(nanoseconds())")
        case .gap(let gap):
            journal.write("gap \(gap.poster) \(gap.from) \(gap.to ?? .max) \(gap.reason) \(gap.isCertain)")
        }
    }
    guard observation.waitUntilConfirmed() else { exit(1) }
    // The observer must learn of every post after this line.
    journal.write("confirmed \(nanoseconds())")
    serve()
case "post":
    let count = Int(arguments[4]) ?? 0
    let center = try DistributedNotificationCenter(.hub(named: name, in: names), options: options)
    journal.write("poster \(center.poster)")
    // The contract does not cover a poster that is killed before its first post is accepted.
    try center.post("b")
    while center.statistics.kept > 0 { usleep(500) }
    for index in 0..<count {
        let time = nanoseconds()
        let topic = index % 3 == 1 ? "b" : "a"
        let number = try center.post(
            topic, payload: Array("\(index)".utf8), whenFull: .block(atMost: .seconds(120)))
        journal.write("post \(number) \(topic) \(time)")
        // A pace that leaves the test time for its faults.
        if index % 10 == 9 { usleep(1_000) }
    }
    Task {
        try await center.post("b", until: .settled)
        journal.write("settled")
    }
    serve()
case "large":
    // Posts when it gets a signal, which its threads do not take.
    var (set, signal) = (sigset_t(), CInt(0))
    // Safe, here and below: the kernel reads and fills our own values.
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGUSR1)
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    options.keptByteLimit = 64 << 20
    let center = try DistributedNotificationCenter(
        .hub(named: name, in: names, servesIfFirst: false), options: options)
    try center.post("b")
    while center.statistics.kept > 0 { usleep(500) }
    journal.write("connected")
    unsafe sigwait(&set, &signal)
    for _ in 0..<(Int(arguments[4]) ?? 0) {
        try center.post("a", payload: [UInt8](repeating: 0, count: 60_000))
    }
    journal.write("posted")
    serve()
case "pace":
    // Posts at a pace that all observers can follow, so that the latency without a queue is measured.
    let center = try DistributedNotificationCenter(.hub(named: name, in: names), options: options)
    journal.write("poster \(center.poster)")
    for _ in 0..<(Int(arguments[4]) ?? 0) {
        let time = nanoseconds()
        let number = try center.post("a", whenFull: .block(atMost: .seconds(120)))
        journal.write("post \(number) a \(time)")
        while center.statistics.kept > 0 { usleep(500) }
    }
    journal.write("settled")
    serve()
case "crowd", "slow":
    options.reconnectTimeout = .seconds(60)
    let center = try DistributedNotificationCenter(
        .hub(named: name, in: names, servesIfFirst: false), options: options)
    let count = Int(arguments[4]) ?? 1
    let observations = (0..<count).map { index in
        center.addObserver(forName: "a", on: .main, capacity: .unlimited) { event in
            // The last observer alone writes the time, because it is called after the others.
            guard case .notification(let note) = event, index == count - 1 else { return }
            journal.write("note \(note.poster) \(note.number) \(nanoseconds())")
            if arguments[1] == "slow" { usleep(20_000) }
        }
    }
    for observation in observations { guard observation.waitUntilConfirmed() else { exit(1) } }
    journal.write("confirmed \(nanoseconds())")
    withExtendedLifetime(observations) { serve() }
case "impostor":
    let remote = try RemotePort(
        connectingTo: name, in: names, messageByteLimit: 131_072, descriptorLimit: 0)
    try RunLoop.current.add(remote, forMode: .default) { message in journal.write("answer \(message.id)") }
    remote.onEnd { _, _ in journal.write("end") }
    let text = Array(arguments[4].utf8)
    let bytes = stride(from: 0, to: text.count, by: 2).map { index in
        UInt8(String(decoding: text[index..<(index + 2)], as: UTF8.self), radix: 16) ?? 0
    }
    remote.onConnect { _ in
        do { _ = try remote.trySend(bytes, id: 1) } catch { journal.write("refused \(error)") }
    }
    serve()
default: exit(2)
}

/// Runs the main loop until the process is killed.
func serve() {
    let keeper = Timer(timeInterval: .seconds(300), repeats: true) { _ in }
    RunLoop.current.add(keeper, forMode: .default)
    RunLoop.current.run()
}

/// A clock that all processes of the machine share.
func nanoseconds() -> Int64 {
    var time = timespec()
    // Safe: the kernel fills a local variable.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
