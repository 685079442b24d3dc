import Foundation
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Names are kept in a directory in which only the user can register them.
@Suite struct PortNameDirectoryTests {
    @Test(arguments: [0o755, 0o710, 0o701, 0o770, 0o777])
    func `a directory that other users may enter is refused`(mode: Int) throws {
        try withScratchDirectory { path in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            try expectUnsafe(path, "other users may enter it (mode \(String(mode, radix: 8)), not 700)")
        }
    }

    @Test func `a directory of another user is refused`() throws {
        // The administrator can give a directory away. Another user takes a directory that belongs to the administrator.
        if !Child.canChangeUser {
            let owner = try FileManager.default.attributesOfItem(atPath: "/proc")[.ownerAccountID] as? UInt32
            if let owner, owner != geteuid() {
                try expectUnsafe("/proc", "it belongs to user \(owner), not to user \(geteuid())")
            }
            return
        }
        try withScratchDirectory { path in
            try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: path)
            try expectUnsafe(path, "it belongs to user 12345, not to user 0")
        }
    }

    @Test func `a file that is not a directory is refused, and so is a link to a directory`() throws {
        try withScratchDirectory { path in
            try FileManager.default.createSymbolicLink(
                atPath: path + "/link", withDestinationPath: path)
            try expectUnsafe(path + "/link", "it is not a directory, or it is a link to one")
            #expect(FileManager.default.createFile(atPath: path + "/file", contents: nil))
            try expectUnsafe(path + "/file", "it is not a directory, or it is a link to one")
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

    // Guarantees: The directory of names that was checked is the one that is used, even if its path leads elsewhere by then.
    @Test
    func `a directory that is swapped after the check is not used, neither to listen nor to connect`()
        throws
    {
        try withScratchDirectory { path in
            let (place, name) = (path + "/names", try PortName("clock"))
            let opened = try NameDirectory(.directory(place), makes: true)
            try FileManager.default.moveItem(atPath: place, toPath: path + "/moved")
            // The directory of another user, with a listener of that user.
            let other = try PortNames(directory: place).register(name)
            var own = try NameLock(name, in: opened)
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
    func `without a directory of descriptors, names are refused, and not looked up by path`(
        descriptors: String
    ) throws {
        try withScratchDirectory { path in
            let reason = "it cannot be used by its descriptor, because there is no \(descriptors)"
            #expect(throws: PortNameError.unsafeDirectory(path, reason)) {
                _ = try NameDirectory(.directory(path), makes: false, descriptors: descriptors)
            }
        }
    }

    @Test func `a relative path is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PortNames(directory: "names")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            message.contains(
                "PortNames.init: names is not an absolute path; pass one that begins with a slash"))
    }

    @Test func `the user's names are in the user's runtime directory`() async throws {
        try await #require(processExitsWith: .success) {
            try withScratchDirectory { path in
                // Safe: the process has no other threads that read the environment.
                unsafe setenv("XDG_RUNTIME_DIR", path, 1)
                #expect("\(PortNames.user)" == "names in \(path)/run-loops")
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

    @Test func `a place that is not the user's alone is skipped for the home directory`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            try withScratchDirectory { path in
                let shared = path + "/shared"
                try FileManager.default.createDirectory(
                    atPath: shared, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o777]
                )
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: shared)
                for place in ["", "relative", path + "/nowhere", "/proc/self/status", shared] {
                    setEnvironment(["XDG_RUNTIME_DIR": place, "HOME": path])
                    if hasSystemDirectory { continue }
                    let name = try uniqueName(false)
                    let registration = try PortNames.user.register(name)
                    #expect(FileManager.default.fileExists(atPath: "\(path)/.run-loops/\(name)"), "\(place)")
                    #expect("\(PortNames.user)" == "names in \(path)/.run-loops")
                    expectNobody(registration.listener)
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: shared) == [])
            }
        }
    }

    @Test func `without a place of the user's own, names are refused, and the error says how to fix that`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            if hasSystemDirectory { return }
            let name = try PortName("clock")
            setEnvironment(["XDG_RUNTIME_DIR": "/proc/self/status", "HOME": ""])
            let error = nameError { () throws(PortNameError) in _ = try PortNames.user.register(name) }
            let system = "/run/user/\(geteuid()) does not exist"
            #expect(
                error
                    == PortNameError(
                        .noDirectory,
                        details:
                            "XDG_RUNTIME_DIR=/proc/self/status is not a directory, \(system), HOME is not set"
                    ))
            #expect(error == nameError { () throws(PortNameError) in _ = try PortNames.user.owner(of: name) })
            #expect(
                error?.description.hasSuffix(
                    "; set XDG_RUNTIME_DIR to a directory of the user's own with mode 700, or use PortNames(directory:)"
                ) == true)
            expectNobody(try PortNames.user.register(uniqueName(true)).listener)
        }
    }

    // Guarantees: No other user can make the directory of the user's names first.
    @Test func `a directory that another user makes first in the temporary directory changes nothing`()
        async throws
    {
        // Only the administrator can act as both users.
        if !Child.canChangeUser { return }
        try await #require(processExitsWith: .success) {
            let (user, attacker): (uid_t, uid_t) = (54_321, 54_322)
            let squatted = "/tmp/run-loops-\(user)"
            let home = try ScratchDirectory()
            try FileManager.default.setAttributes([.ownerAccountID: user], ofItemAtPath: home.path)
            let child = Child {
                if setuid(attacker) != 0 { return 1 }
                // Safe: the kernel reads the string.
                return unsafe mkdir(squatted, 0o700) == 0 ? 0 : 2
            }
            try #require(child.wait() == .exited(0))
            setEnvironment(["XDG_RUNTIME_DIR": "/tmp", "HOME": home.path])
            try #require(seteuid(user) == 0)
            do {
                let name = try uniqueName(false)
                let registration = try PortNames.user.register(name)
                #expect(try PortNames.user.owner(of: name).userID == user)
                expectClient(registration.listener) { _ in }
            } catch { Issue.record(error) }
            try #require(seteuid(0) == 0)
            try FileManager.default.removeItem(atPath: squatted)
            try home.remove()
        }
    }

    @Test func `the administrator with a user's environment makes nothing in that user's places`()
        async throws
    {
        if !Child.canChangeUser { return }
        try await #require(processExitsWith: .success) {
            if hasSystemDirectory { return }
            let (theirs, own) = (try ScratchDirectory(), try ScratchDirectory())
            try FileManager.default.setAttributes([.ownerAccountID: 54_321], ofItemAtPath: theirs.path)
            setEnvironment(["XDG_RUNTIME_DIR": theirs.path, "HOME": own.path])
            expectNobody(try PortNames.user.register(PortName("clock")).listener)
            #expect(try theirs.files() == [])
            setEnvironment(["XDG_RUNTIME_DIR": "", "HOME": theirs.path])
            #expect(throws: PortNameError.self) { _ = try PortNames.user.register(PortName("clock")) }
            #expect(try theirs.files() == [])
            try theirs.remove()
            try own.remove()
        }
    }
}

/// True if the system has a runtime directory for the user, which takes precedence over the home directory.
private var hasSystemDirectory: Bool { FileManager.default.fileExists(atPath: "/run/user/\(geteuid())") }

/// Sets environment variables, in a process with no other threads.
private func setEnvironment(_ variables: [String: String]) {
    // Safe: the process has no other threads that read the environment.
    for (name, value) in variables { unsafe setenv(name, value, 1) }
}

func withScratchDirectory(_ body: (String) throws -> Void) throws {
    let place = try ScratchDirectory()
    defer { do { try place.remove() } catch { Issue.record(error) } }
    try body(place.path)
}

private func expectUnsafe(_ path: String, _ reason: String) throws {
    let error = PortNameError.unsafeDirectory(path, reason)
    let name = try PortName("clock")
    #expect(throws: error) { _ = try PortNames(directory: path).register(name) }
    #expect(throws: error) { try PortNames(directory: path).owner(of: name) }
}

/// The error with which a registration or look-up fails.
private func nameError(_ body: () throws(PortNameError) -> Void) -> PortNameError? {
    do {
        try body()
        return nil
    } catch { return error }
}
