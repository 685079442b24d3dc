import Glibc
import MessagePorts
import RunLoops
import TestSupport

/// The other process for the tests of ports.
///
/// The first argument names the task, the second the directory of names.
@main struct PortPeer {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments[1] == "attack" {
            guard let attack = Attack(rawValue: arguments[3]), let seconds = Int(arguments[4]) else {
                fatalError("there is no such attack")
            }
            return try attack.run(on: arguments[2], seconds: seconds)
        }
        if arguments[1] == "unread" { return unread(arguments[2]) }
        let names = PortNames(directory: arguments[2])
        switch arguments[1] {
        case "serve": try serve(names)
        case "ask": try ask(names)
        case "tell": try RemotePort(named: PortName("test"), in: names).send(Array("gone".utf8))
        case "flood": try flood(names)
        case "hoard": try hoard(names)
        case "malform": malform(arguments[2])
        default: fatalError("it is to serve, ask, tell, flood, hoard, malform or attack")
        }
    }

    /// Asks on four connections for as many replies as the kernel keeps, reads none of them, and ends at the end of its input.
    private static func unread(_ name: String) {
        let peers = (0..<4).compactMap { _ in RawPeer(name, claimsReplies: 65_536) }
        for peer in peers { for number: UInt64 in 1...253 { peer.ask(number, id: 1) } }
        print("asked on \(peers.count)")
        fflush(nil)
        var byte: UInt8 = 0
        // Safe: the kernel fills a local variable.
        while unsafe read(STDIN_FILENO, &byte, 1) != 0 {}
        withExtendedLifetime(peers) {}
    }

    /// Tells the test that it is ready, and replies with the bytes of each request until the process is killed.
    private static func serve(_ names: PortNames) throws {
        let port = try MessagePort(named: PortName("peer"), in: names)
        try RunLoop.current.add(port, forMode: .default) { message in
            // The request with the number 1 is never answered.
            if message.id == 1 { return keep(message) }
            let answer = message.bytes
            do { try message.reply(answer) } catch { complain("\(error)") }
        }
        let ready = try RunLoopThread(name: "ready")
        ready.runLoop.perform {
            do { try RemotePort(named: PortName("test"), in: names).send(Array("ready".utf8)) } catch {
                complain("\(error)")
            }
        }
        RunLoop.current.run()
    }

    /// The requests that are never answered.
    private final class Kept {
        let message: MessagePort.Message
        init(_ message: consuming MessagePort.Message) { self.message = message }
    }

    /// `nonisolated(unsafe)`: accessed on the main thread only.
    nonisolated(unsafe) private static var kept: [Kept] = []

    private static func keep(_ message: consuming MessagePort.Message) { unsafe kept.append(Kept(message)) }

    /// Sends a request to the test, and waits for the reply.
    private static func ask(_ names: PortNames) throws {
        let remote = try RemotePort(named: PortName("test"), in: names)
        let reply = try remote.request(Array("who".utf8))
        tell(String(decoding: reply.bytes, as: UTF8.self))
    }

    /// Connects 25 times, keeps the accepted connections, and waits for the reply to a request on one of them.
    private static func hoard(_ names: PortNames) throws {
        var remotes: [RemotePort] = []
        var refusals = 0
        for _ in 0..<25 {
            do throws(MessagePortError) {
                remotes.append(try RemotePort(named: try name("test"), in: names))
            } catch {
                if error.reason == .tooManyConnections { refusals += 1 } else { complain("\(error)") }
            }
        }
        _ = try remotes[0].request(id: 1)
        tell("\(remotes.count) connections, \(refusals) refusals")
        withExtendedLifetime(remotes) {}
    }

    private static func name(_ text: String) throws(MessagePortError) -> PortName {
        do { return try PortName(text) } catch { throw .name(error) }
    }

    /// Sends numbered messages as fast as possible, until the process kills itself.
    private static func flood(_ names: PortNames) throws {
        let remote = try RemotePort(named: PortName("test"), in: names)
        let watch = try RunLoopThread(name: "watch")
        var number: UInt32 = 0
        while true {
            if number == 1_000 { watch.runLoop.perform { kill(getpid(), SIGKILL) } }
            try remote.send([UInt8](repeating: 1, count: 100), id: number)
            number += 1
        }
    }

    /// A hundred times, connects, sends a malformed packet, and waits until the connection ends.
    private static func malform(_ directory: String) {
        var ended = 0
        for _ in 0..<100 {
            let socket = Glibc.socket(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            // Safe, here and below: the memory that is read and written is local, and has the stated length.
            unsafe withUnsafeMutableBytes(of: &address.sun_path) {
                unsafe $0.copyBytes(from: "\(directory)/test".utf8)
            }
            let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(socket, $0, size) == 0
                }
            }
            if !isConnected { complain("connect: \(errno)") }
            _ = unsafe Glibc.send(socket, "nonsense", 8, CInt(MSG_NOSIGNAL))
            var answer = [UInt8](repeating: 0, count: 1_024)
            while unsafe recv(socket, &answer, answer.count, 0) > 0 {}
            ended += 1
            close(socket)
        }
        tell("\(ended) connections ended")
    }
}
