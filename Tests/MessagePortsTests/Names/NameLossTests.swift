import Foundation
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoop

@testable import MessagePorts
@testable import RunLoops

/// If a port's files are removed or replaced, the port's handler learns that the name is lost.
@Suite struct NameLossTests {
    enum Loss: CaseIterable, Sendable {
        case socketRemoved, lockRemoved, socketReplaced, socketMoved, directoryMoved, directoryRemoved

        /// Removes or replaces the file or directory.
        func happen(in directory: String) throws {
            let files = FileManager.default
            let (socket, lock) = (directory + "/test", directory + "/.test.lock")
            switch self {
            case .socketRemoved: try files.removeItem(atPath: socket)
            case .lockRemoved: try files.removeItem(atPath: lock)
            case .socketReplaced:
                try Data().write(to: URL(filePath: directory + "/other"))
                #expect(unsafe rename(directory + "/other", socket) == 0)
            case .socketMoved: try files.moveItem(atPath: socket, toPath: directory + "/elsewhere")
            case .directoryMoved: try files.moveItem(atPath: directory, toPath: directory + " moved")
            case .directoryRemoved: try files.removeItem(atPath: directory)
            }
        }
    }

    // Guarantees: If the socket, lock or directory of a port is removed or moved, this is reported to the port once.
    @Test(arguments: Loss.allCases)
    func `a port is told once that its name is lost, and keeps its connections`(loss: Loss) throws {
        try withScratchDirectory { path in
            let directory = path + "/names"
            try onLoopThread { loop in
                let port = try MessagePort(named: PortName("test"), in: PortNames(directory: directory))
                var (losses, messages) = (0, 0)
                try loop.add(port, forMode: .common) { _ in messages += 1 }
                try port.onNameLoss { losses += $0 === port ? 1 : 100 }
                let remote = try RemotePort(connectingTo: port.name, in: PortNames(directory: directory))
                try loop.add(remote, forMode: .common) { _ = $0.id }
                loop.connect(remote, in: .default)
                loop.settle()
                #expect(losses == 0)
                try loss.happen(in: directory)
                while losses == 0 { _ = loop.run(mode: .default, before: .hang) }
                #expect(port.isValid && remote.isValid)
                let isSent = try remote.trySend()
                #expect(isSent)
                while messages == 0 { _ = loop.run(mode: .default, before: .hang) }
                loop.settle()
                #expect(losses == 1)
                // A handler that is set after the loss is called, too.
                try port.onNameLoss { _ in losses += 10 }
                while losses < 11 { _ = loop.run(mode: .default, before: .hang) }
                // The name can be registered again.
                port.invalidate()
                let next = try MessagePort(named: PortName("test"), in: PortNames(directory: directory))
                #expect(next.isValid)
            }
        }
    }

    @Test func `two ports have a name after its files were removed, and the first one is told`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let first = try MessagePort(named: PortName("test"), in: names.names)
            var losses = 0
            try loop.add(first, forMode: .common) { _ = $0.id }
            try first.onNameLoss { _ in losses += 1 }
            for file in ["/test", "/.test.lock"] {
                try FileManager.default.removeItem(atPath: names.directory + file)
            }
            let second = try MessagePort(named: PortName("test"), in: names.names)
            while losses == 0 { _ = loop.run(mode: .default, before: .hang) }
            first.invalidate()
            // The first port does not remove the files of the second one.
            #expect(try names.names.owner(of: second.name).processID == getpid())
        }
    }

    @Test func `other changes of the files or the directory are no loss, and other names wake up nobody`()
        throws
    {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("test"), in: names.names)
            try loop.add(port, forMode: .common) { _ = $0.id }
            try port.onNameLoss { _ in Issue.record("the name is not lost") }
            loop.settle()
            for number in 0..<20 { _ = try MessagePort(named: PortName("other \(number)"), in: names.names) }
            #expect(!isReadable(port.core.set.descriptor))
            #expect(unsafe chmod(names.directory + "/test", 0o600) == 0)
            waitUntil("the change is reported") { isReadable(port.core.set.descriptor) }
            loop.settle()
            #expect(!isReadable(port.core.set.descriptor) && port.isValid)
        }
    }

    @Test func `an abstract name cannot be lost`() throws {
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("@run-loops-test-\(getpid())"))
            try loop.add(port, forMode: .common) { _ = $0.id }
            try port.onNameLoss { _ in Issue.record("the name is not lost") }
            loop.settle()
            #expect(port.isValid)
        }
    }

    @Test func `ports that watch their names leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 128)
            let names = try OwnNames()
            try onLoopThread { loop in
                for _ in 0..<300 {
                    let port = try MessagePort(named: PortName("test"), in: names.names)
                    try loop.add(port, forMode: .common) { _ = $0.id }
                    try port.onNameLoss { _ in }
                    port.invalidate()
                }
            }
        }
    }
}

private func isReadable(_ descriptor: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, 0) == 1
}
