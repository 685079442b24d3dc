internal import CLoad
internal import Dispatch
internal import Notifications
internal import RunLoops
internal import Synchronization

/// Messages to a port of the loop that sends them.
enum PortCosts {
    /// The number of messages that wait before the first of them is handled.
    private static let batch = 100

    /// Sends `count` messages, and runs the loop until they have been handled.
    ///
    /// One thread does both, so that no count depends on when the kernel switches threads.
    static func stream(_ count: Int) throws {
        let thread = WorkerThread()
        let received = Atomic(0)
        thread.runAndWait {
            let port = Port<Int>(queueLimit: .unlimited)
            RunLoop.current.add(port, forMode: .default) { received.add($0, ordering: .relaxed) }
            do {
                for sent in 1...count {
                    try port.send(1)
                    if sent % batch != 0 { continue }
                    while received.load(ordering: .relaxed) < sent { RunLoop.current.run(until: .now) }
                }
            } catch { fatalError("\(error)") }
        }
        thread.end()
        try Miscount.check(expected: count / batch * batch, found: received.load(ordering: .relaxed))
    }
}

/// Messages to threads that receive from port sets.
enum PortSetCosts {
    /// The number of messages that wait before the first of them is received.
    private static let batch = 100

    /// Sends `count` messages, and receives them.
    ///
    /// One thread does both, so that no count depends on when the kernel switches threads.
    static func stream(_ count: Int) throws {
        let thread = WorkerThread()
        let received = Atomic(0)
        thread.runAndWait {
            let port = Port<Int>(queueLimit: .unlimited)
            let set = PortSet<Int>()
            set.add(port)
            set.add(Port<Void>()) { 0 }
            do {
                for _ in 0..<count / batch {
                    for _ in 0..<batch { try port.send(1) }
                    for _ in 0..<batch { received.add(try set.receive(), ordering: .relaxed) }
                }
            } catch { fatalError("\(error)") }
        }
        thread.end()
        try Miscount.check(expected: count / batch * batch, found: received.load(ordering: .relaxed))
    }

    /// Sends `count` messages, of which each answers the one before.
    static func hop(_ count: Int) throws {
        let (near, far) = (WorkerThread(), WorkerThread())
        let (toNear, toFar) = (Port<Int>(), Port<Int>())
        near.run { relay(from: toNear, to: toFar) }
        far.run { relay(from: toFar, to: toNear) }
        try toFar.send(count)
        near.wait()
        far.wait()
        near.end()
        far.end()
    }

    /// Receives numbers, and sends each less one, until one side has received 1 and the other one 0.
    private static func relay(from port: Port<Int>, to other: Port<Int>) {
        let set = PortSet<Int>()
        set.add(port)
        set.add(Port<Void>()) { 0 }
        do {
            while true {
                let rest = try set.receive()
                if rest > 0 { try other.send(rest - 1) }
                if rest <= 1 { return }
            }
        } catch { fatalError("\(error)") }
    }
}

/// Notifications to the loop of another thread.
enum RedirectionCosts {
    /// The number of notifications that wait before the first of them is delivered.
    private static let batch = 250

    /// Posts `count` notifications while the observer's loop is held in a handler.
    static func post(_ count: Int) throws {
        let thread = try RunLoopThread(name: "observer")
        _ = try thread.prepare(.park)
        let center = NotificationCenter()
        let name = Notification.Name("redirected")
        let seen = Atomic(0)
        let token = center.addObserver(forName: name, on: thread.runLoop) { _ in
            seen.add(1, ordering: .relaxed)
        }
        let (isHeld, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for _ in 0..<count / batch {
            thread.runLoop.perform {
                isHeld.signal()
                goesOn.wait()
            }
            isHeld.wait()
            for _ in 0..<batch { center.post(name: name) }
            goesOn.signal()
        }
        try thread.runLoop.performAndWait {}
        token.remove()
        thread.stop()
        thread.join()
        try Miscount.check(expected: count / batch * batch, found: seen.load(ordering: .relaxed))
    }
}

/// Datagrams to a socket.
enum DatagramCosts {
    /// Sends `count` datagrams in bursts, and receives them.
    static func receive(_ count: Int) throws {
        let sender = WorkerThread()
        let receiver = try SocketReceiver()
        _ = try receiver.bursts.run(count / Int(bench_datagram_burst), on: sender)
        receiver.stop()
        sender.end()
    }
}
