import Glibc
import Inspection
import RunLoops
import TestSupport

// A process that tests inspect. Its loops are blocked in the ways that the arguments name. The process prints "ready" when they are
// blocked, and ends at the end of its input.

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("nobody") { precondition(setuid(65_534) == 0, "root may become anybody") }
let recorder = arguments.contains("unrecorded") ? nil : try FlightRecorder()
let inspector = try Inspector(recorder: recorder)
let stuck = Gate()
let threads = Log<RunLoopThread>()

/// Starts a thread with a loop, which lives as long as the process.
func start(_ name: String) throws -> RunLoopThread {
    let thread = try RunLoopThread(name: name)
    threads.add(thread)
    return thread
}

if arguments.contains("sleeper") {
    let began = Gate()
    let loop = try start("sleeper").runLoop
    loop.perform {
        RunLoop.current.add(
            Timer(timeInterval: .zero, repeats: false) { _ in
                began.open()
                _ = stuck.wait(seconds: 600)
            }, forMode: .default)
    }
    _ = began.wait()
}
if arguments.contains("pair") {
    let left = try start("left")
    let right = try start("right")
    let leftBegan = Gate()
    let rightBegan = Gate()
    left.runLoop.perform {
        leftBegan.open()
        _ = rightBegan.wait()
        right.join(before: .now + .seconds(600))
    }
    right.runLoop.perform {
        rightBegan.open()
        _ = leftBegan.wait()
        left.join(before: .now + .seconds(600))
    }
    while ProcessReport().waits.count < 2 { sched_yield() }
}
if arguments.contains("busy") {
    let loop = try start("busy").runLoop
    @Sendable func again() { RunLoop.current.perform { again() } }
    loop.perform { again() }
}
if arguments.contains("idle") {
    let loop = try start("idle").runLoop
    let port = Port<Int>(queueLimit: 8)
    let added = Gate()
    loop.perform {
        RunLoop.current.add(port, forMode: RunLoop.Mode("never")) { _ in }
        RunLoop.current.add(Timer(timeInterval: .seconds(3600), repeats: true) { _ in }, forMode: .default)
        added.open()
    }
    _ = added.wait()
    for number in 0..<5 { try port.send(number) }
}
recorder?.mark("ready")
print("ready")
fflush(nil)
var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
var byte: UInt8 = 0
repeat {
    // Safe, both: the kernel fills local variables.
    unsafe poll(&input, 1, -1)
} while unsafe read(STDIN_FILENO, &byte, 1) != 0
_exit(0)
