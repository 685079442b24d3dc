import Glibc
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port that replies, an honest client that keeps sending requests, and peers that write any bytes.
///
/// Every test also checks that the honest client always gets its replies.
final class HostileStage: Sendable {
    let server: PortServer
    /// The admitted peers that have ended.
    let gone = Log<UInt64>()
    /// The numbers of the messages from peers other than the honest client.
    let served = Log<UInt32>()
    private let isOver = Shared()
    private let answers = Shared()
    private let honest: Threads

    /// The ID of the honest client's requests.
    static let honestNumber: UInt32 = 1_000_000

    init(_ limits: MessagePort.Options = MessagePort.Options()) throws {
        let served = self.served
        let server = try PortServer(limits: limits) { message in
            if message.id != HostileStage.honestNumber { served.add(message.id) }
            if !message.isRequest { return }
            let answer = message.bytes
            // If this throws, the requester does not read, or has ended.
            do { try message.reply(answer) } catch {}
        }
        self.server = server
        let gone = self.gone
        try server.onThread { [port = server.port] _ in port.onPeerEnd { gone.add($1.id) } }
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

    /// Waits until the honest client has received some more replies.
    func seeThatHonestGoesOn() {
        let now = answers.count
        waitUntil("the honest client is answered") { self.answers.count >= now + 5 }
    }

    /// Ends the honest client, which has received all replies, and waits until no connection is left.
    func end() throws {
        seeThatHonestGoesOn()
        isOver.increment()
        try honest.join()
        waitUntil("no connection is left") { statistics.connections == 0 }
    }

    /// Connects without a greeting.
    func connect() throws -> HostilePeer {
        HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
    }

    /// Connects, and waits until the port has admitted the peer.
    func connectAndGreet(_ limits: Frame.Limits = .init(bodyLength: 1_000, descriptorCount: 0)) throws
        -> HostilePeer
    {
        let peer = try connect()
        #expect(peer.socket.send(Frame(.hello, limits: limits)) == .sent)
        #expect(try peer.nextFrame()?.kind == .welcome)
        return peer
    }
}

/// A peer that writes any bytes.
final class HostilePeer: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }

    /// Returns the next frame, or nil at the end.
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

    /// Receives until the connection ends, and returns the reason that the port sent last.
    func ending() throws -> Frame.Refusal? {
        var refusal: Frame.Refusal?
        while let frame = try nextFrame() {
            #expect(refusal == nil, "a refusal is the last word")
            if frame.kind == .refusal { refusal = Frame.Refusal(rawValue: frame.id) }
        }
        return refusal
    }
}
