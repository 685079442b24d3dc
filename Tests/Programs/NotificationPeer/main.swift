import DistributedNotifications
import Glibc
import MessagePorts
import RunLoops
import TestSupport

/// One process of a fleet that a test kills and stops: it posts, observes or serves, and writes what it has done to a file.
///
/// Its arguments are its role, the directory of names, the file, and for a poster the number of posts. Each line of the file is
/// written by one call, so that a process that is killed leaves whole lines.
alarm(300)
let arguments = CommandLine.arguments
let name = try PortName("fleet")
let names = PortNames(directory: arguments[2])
let journal = try Journal(arguments[3])

var options = DistributedNotificationCenter.Options()
options.grace = .seconds(2)
options.keptPosts = 256

switch arguments[1] {
case "hub":
    let hub = try DistributedNotificationHub(named: name, in: names)
    journal.write("serves")
    hub.wait()
case "observe":
    let center = try DistributedNotificationCenter(.hub(named: name, in: names), options: options)
    let observation = center.addObserver(forName: "a", on: .main) { event in
        switch event {
        case .notification(let note): journal.write("note \(note.poster) \(note.number)")
        case .gap(let gap):
            journal.write("gap \(gap.poster) \(gap.from) \(gap.to ?? .max) \(gap.reason) \(gap.isCertain)")
        }
    }
    guard observation.waitUntilConfirmed() else { exit(1) }
    // Whatever is posted after this line is a post that the observer must hear of.
    journal.write("confirmed \(nanoseconds())")
    serve()
case "post":
    let count = Int(arguments[4]) ?? 0
    let center = try DistributedNotificationCenter(.hub(named: name, in: names), options: options)
    journal.write("poster \(center.poster)")
    // A poster that is killed before anybody has heard of it is outside the contract.
    try center.post("b")
    while center.statistics.kept > 0 { usleep(500) }
    for index in 0..<count {
        let time = nanoseconds()
        let topic = index % 3 == 1 ? "b" : "a"
        let number = try center.post(
            topic, payload: Array("\(index)".utf8), whenFull: .block(until: .seconds(120)))
        journal.write("post \(number) \(topic) \(time)")
        // A pace at which the test has the time for its faults.
        if index % 10 == 9 { usleep(1_000) }
    }
    Task {
        try await center.post("b", until: .settled)
        journal.write("settled")
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

/// The time that all processes of the machine share.
func nanoseconds() -> Int64 {
    var time = timespec()
    // Safe: the kernel fills our own value.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
