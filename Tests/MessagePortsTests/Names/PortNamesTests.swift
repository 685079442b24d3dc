import Foundation
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A name has one port while the port is alive, and none afterwards.
@Suite struct PortNamesTests {
    @Test(arguments: [false, true]) func `a name belongs to its port until the port ends`(isAbstract: Bool)
        throws
    {
        let place = try ScratchDirectory()
        defer { remove(place) }
        let names = PortNames(directory: place.path)
        let name = try uniqueName(isAbstract)
        #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) }
        for _ in 0..<3 {
            do {
                let registration = try names.register(name)
                #expect(registration.name == name)
                #expect(throws: PortNameError.taken(name)) { _ = try names.register(name) }
                let own = PeerCredentials(processID: getpid(), userID: geteuid(), groupID: getegid())
                #expect(try names.owner(of: name) == own)
                // The call to `owner(of:)` counts as a client that has disconnected.
                expectClient(registration.listener) { #expect($0.takeWhatComes() == .end) }
                let client = try names.connect(to: name, before: .now)
                #expect(client.give([1, 2]) == .sent)
                expectClient(registration.listener) { server in
                    #expect(server.take() == .packet([1, 2], descriptors: 0))
                    let peer = try server.peer
                    #expect(peer == own)
                    #expect(server.give([3]) == .sent)
                }
                #expect(client.take() == .packet([3], descriptors: 0))
                expectNobody(registration.listener)
            }
            // The kernel keeps an abstract name as long as any process has the socket. A child that another test has just started
            // has the socket, too, until the child calls exec.
            if isAbstract { waitUntil("the name is free") { isUnknown(name, in: names) } }
            #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) }
            #expect(try place.files() == [])
        }
    }

    @Test func `plain names are distinct, and distinct from those of another place`() throws {
        let places = [try ScratchDirectory(), try ScratchDirectory()]
        defer { for place in places { remove(place) } }
        let (one, other) = (try PortName("one"), try PortName("other"))
        let first = try PortNames(directory: places[0].path).register(one)
        let second = try PortNames(directory: places[0].path).register(other)
        let third = try PortNames(directory: places[1].path).register(one)
        _ = try PortNames(directory: places[1].path).connect(to: one, before: .now)
        expectNobody(first.listener)
        expectNobody(second.listener)
        expectClient(third.listener) { _ in }
    }

    @Test(arguments: [false, true])
    func `the name of a killed process is free at once`(isAbstract: Bool) async throws {
        for round in 0..<3 {
            let place = try ScratchDirectory("killed-\(isAbstract)-\(getpid())")
            defer { remove(place) }
            if isAbstract {
                // The test's own registration of the previous round can still exist, as above.
                let name = try PortName("@killed-\(getpid())")
                waitUntil("the name is free") { isUnknown(name, in: PortNames(directory: place.path)) }
                try await #require(processExitsWith: .signal(SIGKILL)) { try dieWithName(isAbstract: true) }
            } else {
                try await #require(processExitsWith: .signal(SIGKILL)) { try dieWithName(isAbstract: false) }
            }
            let names = PortNames(directory: place.path)
            let name = try PortName("\(isAbstract ? "@" : "")killed-\(getpid())")
            // The files of the killed process are ignored, and do not block the name.
            #expect(try place.files().isEmpty == isAbstract)
            if round > 0 { #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) } }
            let registration = try names.register(name)
            #expect(try names.owner(of: name).processID == getpid())
            expectClient(registration.listener) { _ in }
        }
    }

    @Test func `a look-up makes no files, and a name that is not taken is unknown`() throws {
        let path = ScratchDirectory.path(of: UUID().uuidString)
        let name = try PortName("clock")
        #expect(throws: PortNameError.unknown(name)) { try PortNames(directory: path).owner(of: name) }
        #expect(!FileManager.default.fileExists(atPath: path))
        let error = #expect(throws: PortNameError.refused(SystemError(call: "mkdir", code: ENOENT))) {
            _ = try PortNames(directory: path + "/further").register(name)
        }
        #expect(error?.description.hasPrefix("\(path)/further: mkdir: ") == true)
        // The directory is made with access for the user alone.
        do { _ = try PortNames(directory: path).register(name) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func `another file in the name's place is replaced`() throws {
        let place = try ScratchDirectory()
        defer { remove(place) }
        let (names, name) = (PortNames(directory: place.path), try PortName("clock"))
        for file in ["clock", ".clock.lock", ".clock.new"] {
            #expect(FileManager.default.createFile(atPath: place.path + "/" + file, contents: Data([1])))
        }
        #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) }
        let registration = try names.register(name)
        _ = try names.owner(of: name)
        expectClient(registration.listener) { _ in }
    }

    @Test func `a port whose directory was cleaned is still alive, and does not remove its successor's name`()
        throws
    {
        let place = try ScratchDirectory()
        defer { remove(place) }
        let (names, name) = (PortNames(directory: place.path), try PortName("clock"))
        var second: HeldRegistration
        do {
            let first = try names.register(name)
            try FileManager.default.removeItem(atPath: place.path + "/.clock.lock")
            #expect(throws: PortNameError.taken(name)) { _ = try names.register(name) }
            expectClient(first.listener) { #expect($0.takeWhatComes() == .end) }
            try FileManager.default.removeItem(atPath: place.path + "/clock")
            second = HeldRegistration(try names.register(name))
            #expect(try names.owner(of: name).processID == getpid())
            expectNobody(first.listener)
        }
        #expect(try names.owner(of: name).processID == getpid())
        second.clear()
        #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) }
        #expect(try place.files() == [])
    }

    @Test func `names can be released while their directory is removed`() throws {
        for _ in 0..<50 {
            let (place, areHeld) = (try ScratchDirectory(), Gate())
            let ends = try Threads(1) { _ in
                let names = PortNames(directory: place.path)
                let held = try (0..<20).map { HeldRegistration(try names.register(PortName("clock-\($0)"))) }
                areHeld.open()
                for registration in held { registration.clear() }
            }
            #expect(areHeld.wait())
            remove(place)
            try ends.join()
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
    }

    @Test func `a lock whose file its owner removes meanwhile does not count`() throws {
        let place = try ScratchDirectory()
        defer { remove(place) }
        let (name, directory) = (try PortName("clock"), PortNames.Place.directory(place.path))
        let first = Hold(try NameLock(name, in: NameDirectory(directory, makes: false)))
        let second = Hold(nil)
        #expect(throws: PortNameError.taken(name)) {
            _ = try NameLock(name, in: NameDirectory(directory, makes: false)) {
                first.hold = nil
                do {
                    if second.hold == nil {
                        second.hold = try NameLock(name, in: NameDirectory(directory, makes: false))
                    }
                } catch { Issue.record(error) }
            }
        }
        second.hold = nil
        #expect(try place.files() == [])
    }

    @Test func `a forked child that destroys its copy keeps the name taken`() async throws {
        try await #require(processExitsWith: .success) {
            let place = try ScratchDirectory()
            defer { remove(place) }
            let (names, name) = (PortNames(directory: place.path), try PortName("clock"))
            let box = HeldRegistration(try names.register(name))
            let child = Child {
                box.clear()
                return 0
            }
            #expect(child.wait() == .exited(0))
            #expect(try names.owner(of: name).processID == getpid())
            box.clear()
            #expect(try place.files() == [])
        }
    }

    @Test func `a name that cannot be put in place leaves no files`() throws {
        let place = try ScratchDirectory()
        defer { remove(place) }
        // A file cannot replace a directory.
        try FileManager.default.createDirectory(
            atPath: place.path + "/clock", withIntermediateDirectories: false)
        #expect(throws: PortNameError.refused(SystemError(call: "renameat", code: EISDIR))) {
            _ = try PortNames(directory: place.path).register(PortName("clock"))
        }
        #expect(try place.files() == ["clock"])
    }

    @Test func `a name that the kernel does not listen under leaves no files`() throws {
        let place = try ScratchDirectory()
        defer { remove(place) }
        #expect(throws: PortNameError.refused(SystemError(call: "listen", code: ENOBUFS))) {
            _ = try Faults.refusingListens(ENOBUFS) {
                _ = try PortNames(directory: place.path).register(PortName("clock"))
            }
        }
        #expect(try place.files() == [])
    }

    @Test func `a name that the kernel refuses is an error, and leaves no files`() async throws {
        try await #require(processExitsWith: .success) {
            let place = try ScratchDirectory()
            defer { remove(place) }
            let (names, name) = (PortNames(directory: place.path), try PortName("clock"))
            let bound = try boundOfDescriptors()
            var free = 0
            while let code = refusal(
                bound, free: free, { try registerThrowingSystemError(names, name) })
            {
                #expect(code == EMFILE && openDescriptors(from: bound) == 0)
                #expect(throws: PortNameError.unknown(name)) { try names.owner(of: name) }
                free += 1
                if free > 10 { break }
            }
            // Descriptors for the directory, the lock, the socket, and a check for a listener.
            #expect((3...4).contains(free))
            _ = try names.register(name)
            #expect(openDescriptors(from: bound) == 0)
        }
    }
}

/// A name lock in a class, so that a test can release it at any time.
private final class Hold {
    var hold: NameLock?
    init(_ hold: consuming NameLock?) { self.hold = consume hold }
}

/// A noncopyable registration in a class, so that a test can release it at any time.
final class HeldRegistration {
    private var registration: PortRegistration?
    init(_ registration: consuming PortRegistration) { self.registration = consume registration }
    func clear() { registration = nil }
}

/// Expects that a client waits to be accepted, and calls a closure with the client's connection.
func expectClient(
    _ listener: borrowing PacketListener, sourceLocation: Testing.SourceLocation = #_sourceLocation,
    _ body: (borrowing PacketSocket) throws -> Void
) {
    switch listener.accept() {
    case .connection(let socket):
        do { try body(socket) } catch { Issue.record(error, sourceLocation: sourceLocation) }
    case .none: Issue.record("no client waits", sourceLocation: sourceLocation)
    case .outOfResources(let error): Issue.record(error, sourceLocation: sourceLocation)
    case .failed(let error): Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// Expects that no client waits to be accepted.
func expectNobody(
    _ listener: borrowing PacketListener, sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    switch listener.accept() {
    case .connection: Issue.record("a client waits", sourceLocation: sourceLocation)
    case .none: break
    case .outOfResources(let error): Issue.record(error, sourceLocation: sourceLocation)
    case .failed(let error): Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// A name that no other test uses.
func uniqueName(_ isAbstract: Bool) throws(PortNameError) -> PortName {
    try PortName((isAbstract ? "@run-loops-test-" : "") + UUID().uuidString)
}

private func remove(_ place: ScratchDirectory) {
    do { try place.remove() } catch { Issue.record(error) }
}

/// Registers a name that includes the parent's process ID, and kills this process.
///
/// The parent looks the name up afterwards.
private func dieWithName(isAbstract: Bool) throws {
    let names = PortNames(directory: ScratchDirectory.path(of: "killed-\(isAbstract)-\(getppid())"))
    let registration = try names.register(PortName("\(isAbstract ? "@" : "")killed-\(getppid())"))
    kill(getpid(), SIGKILL)
    expectNobody(registration.listener)
}

/// Registers a name, and throws the underlying error of the kernel.
private func registerThrowingSystemError(_ names: PortNames, _ name: PortName) throws {
    do { _ = try names.register(name) } catch {
        if let refusal = error.systemError { throw refusal }
        throw error
    }
}

/// True if no port has the name.
private func isUnknown(_ name: PortName, in names: PortNames) -> Bool {
    do throws(PortNameError) {
        _ = try names.owner(of: name)
        return false
    } catch { return error == .unknown(name) }
}
