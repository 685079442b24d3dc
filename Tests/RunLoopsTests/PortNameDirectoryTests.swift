import Foundation
import TestSupport
import Testing

@testable import RunLoops

/// Names are kept where nobody but the user can take them.
@Suite struct PortNameDirectoryTests {
    @Test(arguments: [0o755, 0o710, 0o701, 0o770, 0o777])
    func `a directory that others may enter is refused`(mode: Int) throws {
        try withScratchDirectory { path in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            try expectUnsafe(path, "others may enter it (mode \(String(mode, radix: 8)), not 700)")
        }
    }

    @Test func `a directory of another user is refused`() throws {
        // The administrator can give one away; anybody else finds one that is the administrator's.
        if !Child.canChangeUser {
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc")[.ownerAccountID] as? UInt32
            if let owner, owner != geteuid() {
                try expectUnsafe("/proc", "it is user \(owner)'s, not \(geteuid())'s")
            }
            return
        }
        try withScratchDirectory { path in
            try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: path)
            try expectUnsafe(path, "it is user 12345's, not 0's")
        }
    }

    @Test func `what is no directory is refused, and so is a link to one`() throws {
        try withScratchDirectory { path in
            try FileManager.default.createSymbolicLink(
                atPath: path + "/link", withDestinationPath: path)
            try expectUnsafe(path + "/link", "it is no directory, or a link to one")
            #expect(FileManager.default.createFile(atPath: path + "/file", contents: nil))
            try expectUnsafe(path + "/file", "it is no directory, or a link to one")
        }
    }

    @Test func `a directory may have a long path`() throws {
        try withScratchDirectory { path in
            let long = path + "/" + String(repeating: "l", count: 200)
            let (names, name) = (PortNames(directory: long), try PortName(String(repeating: "n", count: 80)))
            let registration = try names.register(name)
            #expect(throws: PortNameError.taken(name)) { _ = try names.register(name) }
            #expect(try names.owner(of: name).processID == getpid())
            expectClient(registration.listener) { _ in }
        }
    }

    @Test
    func `a directory that is swapped after it was looked at is not used, neither to listen nor to connect`()
        throws
    {
        try withScratchDirectory { path in
            let (place, name) = (path + "/names", try PortName("clock"))
            let opened = try NameDirectory(.directory(place), makes: true)
            try FileManager.default.moveItem(atPath: place, toPath: path + "/moved")
            // Somebody else's, who has put a listener of its own there.
            let other = try PortNames(directory: place).register(name)
            let own = try NameHold(name, in: opened)
            let listener = try own.listen()
            #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/moved").contains("clock"))
            let again = try NameDirectory(.directory(path + "/moved"), makes: false)
            try FileManager.default.moveItem(atPath: path + "/moved", toPath: path + "/moved again")
            try FileManager.default.moveItem(atPath: place, toPath: path + "/moved")
            let client = try PacketSocket(again.address(of: name.bytes), before: .now)
            #expect(client.give([1]) == .sent)
            expectClient(listener) { #expect($0.take() == .packet([1], descriptors: 0)) }
            expectNobody(other.listener)
        }
    }

    @Test(arguments: ["/nowhere", "/proc/self/fdinfo", "/proc/1/fd"])
    func `where the system does not show descriptors, names are refused, and not looked for by path`(
        descriptors: String
    ) throws {
        try withScratchDirectory { path in
            let reason = "it cannot be used as it was looked at, because there is no \(descriptors)"
            #expect(throws: PortNameError.unsafeDirectory(path: path, reason: reason)) {
                _ = try NameDirectory(.directory(path), makes: false, descriptors: descriptors)
            }
        }
    }

    @Test func `a path that does not begin at the root is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PortNames(directory: "names")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            message.contains(
                "PortNames.init: names is no path from the root on; give one that begins with a slash"))
    }

    @Test func `the user's names are in the user's runtime directory`() async throws {
        try await #require(processExitsWith: .success) {
            try withScratchDirectory { path in
                // Safe: the process has no other threads that read it now.
                unsafe setenv("XDG_RUNTIME_DIR", path, 1)
                let name = try PortName("clock")
                let registration = try PortNames.user.register(name)
                let files = try FileManager.default.contentsOfDirectory(atPath: path + "/run-loops")
                #expect(files.sorted() == [".clock.lock", "clock"])
                #expect(try PortNames(directory: path + "/run-loops").owner(of: name).processID == getpid())
                expectClient(registration.listener) { _ in }
                let mode = try FileManager.default.attributesOfItem(atPath: path + "/run-loops")
                #expect(mode[.posixPermissions] as? Int == 0o700)
            }
        }
    }

    @Test(arguments: ["", "relative"])
    func `without that directory they are in the system's for the user, or in one beside the other users'`(
        value: String
    ) async throws {
        if value.isEmpty {
            try await #require(processExitsWith: .success) { try expectSystemDirectory("") }
        } else {
            try await #require(processExitsWith: .success) { try expectSystemDirectory("relative") }
        }
    }
}

/// In a process of its own: the user's names where the environment names no directory, or none from the root on.
private func expectSystemDirectory(_ value: String) throws {
    // Safe: the process has no other threads that read it now.
    unsafe setenv("XDG_RUNTIME_DIR", value, 1)
    let user = geteuid()
    let system = "/run/user/\(user)"
    let path =
        FileManager.default.fileExists(atPath: system) ? system + "/run-loops" : "/tmp/run-loops-\(user)"
    let name = try uniqueName(false)
    let registration = try PortNames.user.register(name)
    #expect(FileManager.default.fileExists(atPath: "\(path)/\(name)"))
    expectNobody(registration.listener)
}

private func withScratchDirectory(_ body: (String) throws -> Void) throws {
    let place = try ScratchDirectory()
    defer { do { try place.remove() } catch { Issue.record(error) } }
    try body(place.path)
}

private func expectUnsafe(_ path: String, _ reason: String) throws {
    let error = PortNameError.unsafeDirectory(path: path, reason: reason)
    let name = try PortName("clock")
    #expect(throws: error) { _ = try PortNames(directory: path).register(name) }
    #expect(throws: error) { try PortNames(directory: path).owner(of: name) }
}
