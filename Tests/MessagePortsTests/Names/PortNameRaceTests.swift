import Glibc
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Two processes that register one name at the same moment, again and again.
@Suite struct PortNameRaceTests {
    @Test(arguments: [false, true])
    func `of two processes that take a name at once, exactly one gets it, a thousand times`(isAbstract: Bool)
        async throws
    {
        _ = try await withTwoProcesses(isAbstract ? "abstract" : "plain") {
            async let first: Void = isAbstract ? startAbstractRace() : startPlainRace()
            async let second: Void = isAbstract ? startAbstractRace() : startPlainRace()
            _ = try await (first, second)
        }
    }

    @Test func `two processes that take and release a name at random never both have it`()
        async throws
    {
        let taken = try await withTwoProcesses("free") {
            async let first: Void = startFreeForAll()
            async let second: Void = startFreeForAll()
            _ = try await (first, second)
        }
        // Each process has registered the name many times.
        #expect(taken.load(Place.wins) == 1_000 && taken.load(Place.wins + 1) == 1_000)
    }
}

/// The indices of the numbers in the shared memory.
private enum Place {
    static let number = 0
    static let before = 1
    static let after = 2
    static let looked = 3
    static let holders = 4
    static let processID = 5
    static let wins = 100
}

private func withTwoProcesses(
    _ kind: String, _ body: () async throws -> Void
) async throws -> SharedMemory {
    let place = try ScratchDirectory("race-\(kind)-\(getpid())")
    defer { do { try place.remove() } catch { Issue.record(error) } }
    let shared = try SharedMemory(place.path + "/.shared")
    try await body()
    return shared
}

private func startPlainRace() async throws {
    try await #require(processExitsWith: .success) { try race("plain") }
}

private func startAbstractRace() async throws {
    try await #require(processExitsWith: .success) { try race("abstract") }
}

private func startFreeForAll() async throws {
    try await #require(processExitsWith: .success) { try freeForAll() }
}

/// Runs one of the two processes, whose common parent has made their directory.
private func race(_ kind: String) throws {
    let path = ScratchDirectory.path(of: "race-\(kind)-\(getppid())")
    let names = PortNames(directory: path)
    let name = try PortName(kind == "plain" ? "prize" : "@prize-\(getppid())")
    let shared = try SharedMemory(path + "/.shared")
    for round in 0..<1_000 {
        try shared.meet(at: Place.before, round: round)
        let hold = try take(name, names)
        if hold != nil {
            shared.add(1, at: Place.wins + round)
            shared.add(Int(getpid()) - shared.load(Place.processID), at: Place.processID)
        }
        try shared.meet(at: Place.after, round: round)
        try #require(shared.load(Place.wins + round) == 1)
        // Both processes find the owner.
        try #require(Int(names.owner(of: name).processID) == shared.load(Place.processID))
        try shared.meet(at: Place.looked, round: round)
        if let hold {
            hold.clear()
            // Every second time, the files of a killed owner remain.
            if kind == "plain" && round.isMultiple(of: 2) { try litter(path, name) }
        }
    }
}

private func freeForAll() throws {
    let path = ScratchDirectory.path(of: "race-free-\(getppid())")
    let (names, name) = (PortNames(directory: path), try PortName("prize"))
    let shared = try SharedMemory(path + "/.shared")
    let number = shared.add(1, at: Place.number)
    try shared.meet(at: Place.before, round: 0)
    let deadline = ContinuousClock.Instant.hang
    while shared.load(Place.wins + number) < 1_000 {
        try #require(ContinuousClock.now < deadline)
        if let hold = try take(name, names) {
            try #require(shared.add(1, at: Place.holders) == 0)
            try #require(names.owner(of: name).processID == getpid())
            try #require(shared.add(-1, at: Place.holders) == 1)
            shared.add(1, at: Place.wins + number)
            hold.clear()
        }
    }
}

/// Registers a name unless it is taken.
private func take(_ name: PortName, _ names: PortNames) throws(PortNameError) -> HeldRegistration? {
    do { return HeldRegistration(try names.register(name)) } catch {
        if error == .taken(name) { return nil }
        throw error
    }
}

/// Makes the files that a killed owner leaves.
private func litter(_ path: String, _ name: PortName) throws {
    let directory = try NameDirectory(.directory(path), makes: false)
    _ = try PacketListener(directory.address(of: name.bytes))
    // Safe: the kernel reads the string.
    close(unsafe open("\(path)/.\(name).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600))
}
