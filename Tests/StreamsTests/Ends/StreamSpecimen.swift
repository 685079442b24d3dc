import Glibc
import RunLoops
import Streams
import TestSupport
import Testing

/// An object of one kind in a loop, for tests that end it from anywhere.
///
/// `@unchecked Sendable`: the loop's thread makes the object; the tests end, remove and provoke it on any thread.
final class StreamSpecimen: @unchecked Sendable {
    /// The kinds of objects.
    enum Kind: String, Codable, CaseIterable {
        case connection, pipes, datagrams, listener
    }

    /// What takes an object out of its loop.
    enum Act: String, Codable, CaseIterable {
        case end, reset, remove, removeFromAllModes

        /// The removals.
        static let removals = [remove, removeFromAllModes]

        var isRemoval: Bool { Act.removals.contains(self) }
    }

    let calls = Shared()
    /// For each report of the end, true if it came on the loop's thread.
    let ends = Log<Bool>()
    /// For each release of what the handlers hold, true if it came on the loop's thread.
    let releases = Log<Bool>()
    /// The number of reports that an end makes.
    let reportCount: Int
    private(set) var isOpen: () -> Bool = { false }
    private(set) var act: (Act) -> Void = { _ in }
    /// Adds the object to the common modes of its loop again, on the loop's thread.
    private(set) var addAgain: () throws -> Void = {}
    /// Makes a handler of the object due once more.
    private(set) var provoke: () throws -> Void = {}
    /// Closes what the peers have open, after the end of the object.
    private(set) var clean: () -> Void = {}

    /// Makes an object, and adds it to the common modes of the current loop.
    init(_ kind: Kind, _ body: @escaping (StreamSpecimen) -> Void = { _ in }) throws {
        let loop = RunLoop.current
        let (calls, ends, releases) = (calls, ends, releases)
        let parting = Parting { releases.add(loop.isCurrent) }
        reportCount = kind == .listener ? 0 : 1
        let itself = Link()
        let handle = {
            parting.hold()
            calls.increment()
            if let specimen = itself.specimen { body(specimen) }
        }
        let end: @Sendable () -> Void = { ends.add(loop.isCurrent) }
        switch kind {
        case .connection, .pipes: try makeConnection(kind, loop, handle, end)
        case .datagrams: try makeSocket(loop, handle, end)
        case .listener: try makeListener(loop, handle)
        }
        itself.specimen = self
    }

    private final class Link { weak var specimen: StreamSpecimen? }

    private func makeConnection(
        _ kind: Kind, _ loop: RunLoop, _ handle: @escaping () -> Void, _ end: @escaping () -> Void
    ) throws {
        let wire = try kind == .connection ? Wire.sockets() : Wire.pipe()
        let output = try Wire.pipe()
        let near = OwnedDescriptor(wire.giveAwayNear())
        let connection: Connection
        if kind == .connection {
            connection = try Connection(near)
        } else {
            connection = try Connection(reading: near, writing: OwnedDescriptor(dup(output.far)))
        }
        connection.onFrame(.fixed(1)) { _, _ in handle() }
        connection.onEnd { _, _ in end() }
        try loop.add(connection, forMode: .common)
        isOpen = { connection.isOpen }
        act = {
            StreamSpecimen.act($0, on: connection, loop, $0 == .reset ? connection.reset : connection.close)
        }
        addAgain = { try loop.add(connection, forMode: .common) }
        provoke = { wire.send() }
        clean = {
            wire.close()
            output.close()
        }
    }

    private func makeSocket(
        _ loop: RunLoop, _ handle: @escaping () -> Void, _ end: @escaping () -> Void
    ) throws {
        var pair: [CInt] = [0, 0]
        let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
        // Safe: the kernel fills an array of two elements.
        #expect(unsafe socketpair(AF_UNIX, type, 0, &pair) == 0)
        let sender = pair[1]
        let socket = try DatagramSocket(OwnedDescriptor(pair[0]))
        socket.onReceive { _, _, _ in handle() }
        socket.onEnd { _, _ in end() }
        try loop.add(socket, forMode: .common)
        isOpen = { socket.isOpen }
        act = { StreamSpecimen.act($0, on: socket, loop, socket.close) }
        addAgain = { try loop.add(socket, forMode: .common) }
        // Safe: the kernel reads one byte of a literal.
        provoke = { _ = unsafe send(sender, "x", 1, CInt(MSG_NOSIGNAL)) }
        clean = { close(sender) }
    }

    private func makeListener(_ loop: RunLoop, _ handle: @escaping () -> Void) throws {
        let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(listener.localAddress.port)
        let clients = Log<CInt>()
        try loop.add(listener, forMode: .common) { accepted in
            _ = accepted
            handle()
        }
        isOpen = { listener.isValid }
        act = { StreamSpecimen.act($0, on: listener, loop, listener.invalidate) }
        // This handler replaces the other one, which the specimen must not hold.
        addAgain = { [calls] in
            try loop.add(listener, forMode: .common) { accepted in
                _ = accepted
                calls.increment()
            }
        }
        provoke = { clients.add(try Loopback.connect(to: port)) }
        clean = { for client in clients.entries { Loopback.close(client) } }
    }

    private static func act(_ act: Act, on member: some RunLoopMember, _ loop: RunLoop, _ end: () -> Void) {
        switch act {
        case .end, .reset: end()
        case .remove: for mode in [RunLoop.Mode.default, .common] { loop.remove(member, forMode: mode) }
        case .removeFromAllModes: loop.remove(member)
        }
    }
}

/// A thread whose loop has one ``StreamSpecimen``.
final class StreamSpecimenStage: Sendable {
    let thread: RunLoopThread
    let specimen: StreamSpecimen

    /// Starts the thread with a specimen, whose handler calls `body`.
    init(
        _ kind: StreamSpecimen.Kind, _ body: @escaping @Sendable (StreamSpecimen) -> Void = { _ in }
    ) throws {
        thread = try RunLoopThread(name: "specimen")
        specimen = try thread.runLoop.performAndWait { try StreamSpecimen(kind, body) }
    }

    /// Makes three events come while a block of the loop runs, and calls a closure on this thread before the block returns.
    func whileItIsDue(_ body: () throws -> Void = {}) throws {
        let (isBlocked, isOver) = (Gate(), Gate())
        thread.runLoop.perform {
            isBlocked.open()
            _ = isOver.wait()
        }
        defer { isOver.open() }
        try #require(isBlocked.wait())
        for _ in 0..<3 { try specimen.provoke() }
        try body()
    }

    /// Waits until the loop is about to sleep.
    func awaitSleep() throws {
        let isSleeping = Gate()
        try thread.runLoop.performAndWait {
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in isSleeping.open() }
            RunLoop.current.add(observer, forMode: .common)
        }
        try #require(isSleeping.wait())
    }

    /// Lets the loop make some passes.
    func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait {} } }

    /// Ends the thread.
    func stop() {
        thread.stop()
        thread.join()
        specimen.clean()
    }
}
