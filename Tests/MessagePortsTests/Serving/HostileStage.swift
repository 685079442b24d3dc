import Glibc
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port that answers, an honest client that asks without end, and peers that write what they like.
///
/// What the peers do disturbs nobody: that the honest client is answered all the while is part of every test.
final class HostileStage: Sendable {
    let server: PortServer
    /// Which peers have gone that were admitted.
    let gone = Log<UInt64>()
    /// The numbers of the messages that were not the honest client's.
    let served = Log<UInt32>()
    private let isOver = Shared()
    private let answers = Shared()
    private let honest: Threads

    /// What the honest client asks with.
    static let honestNumber: UInt32 = 1_000_000

    init(_ limits: MessagePort.Limits = MessagePort.Limits()) throws {
        let served = self.served
        let server = try PortServer(limits: limits) { message in
            if message.id != HostileStage.honestNumber { served.add(message.id) }
            if !message.isRequest { return }
            let answer = message.bytes
            // Where it throws, the requester is one that does not read, or has gone.
            do { try message.reply(answer) } catch {}
        }
        self.server = server
        let gone = self.gone
        try server.onThread { [port = server.port] _ in port.onPeerEnd { gone.add($0.connection) } }
        let remote = try server.connect()
        let (isOver, answers) = (self.isOver, self.answers)
        honest = try Threads(1) { _ in
            var number = 0
            while isOver.count == 0 {
                number += 1
                let asked = bytes("\(number)")
                let reply = try remote.request(asked, id: HostileStage.honestNumber, before: .hang)
                let isSame = reply.bytes == asked
                #expect(isSame)
                answers.increment()
            }
        }
    }

    var statistics: MessagePort.Statistics { server.port.statistics }

    /// Waits until the honest client was answered a few times more.
    func seeThatHonestGoesOn() {
        let now = answers.count
        waitUntil("the honest client is answered") { self.answers.count >= now + 5 }
    }

    /// Ends the honest client, which has had its answers to the last, and waits until nobody is left.
    func end() throws {
        seeThatHonestGoesOn()
        isOver.increment()
        try honest.join()
        waitUntil("nobody is left") { statistics.connections == 0 }
    }

    /// Connects without saying what it is.
    func connect() throws -> HostilePeer {
        HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
    }

    /// Connects, and is let in.
    func connectAndGreet(_ limits: Frame.Limits = .init(bodyLength: 1_000, descriptorCount: 0)) throws
        -> HostilePeer
    {
        let peer = try connect()
        #expect(peer.socket.send(Frame(.hello, limits: limits)) == .sent)
        #expect(try peer.nextFrame()?.kind == .welcome)
        return peer
    }
}

/// A peer that writes what it likes.
final class HostilePeer: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }

    /// The next frame that comes, or nil at the end.
    func nextFrame() throws -> Frame? {
        while true {
            switch socket.take() {
            case .packet(let packet, let descriptors): return try decode(packet, descriptors)
            case .end: return nil
            case .wouldBlock: try #require(try socket.wait(for: .read, before: .hang))
            case .tooLong, .lacksDescriptors, .exceedsAllowance: throw Unexpected()
            case .failed(let error): throw error
            }
        }
    }

    /// How the port has ended the connection: with which word, after which nothing comes.
    func ending() throws -> Frame.Refusal? {
        var refusal: Frame.Refusal?
        while let frame = try nextFrame() {
            #expect(refusal == nil, "a refusal is the last word")
            if frame.kind == .refusal { refusal = Frame.Refusal(rawValue: frame.id) }
        }
        return refusal
    }
}
