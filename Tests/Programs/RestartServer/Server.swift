import MessagePorts
import RunLoops
import TestSupport

/// A server that answers each line of a client with the server's generation, a unique number, and the line.
final class Server {
    /// The requests to the server's port.
    enum Question: UInt32 {
        /// Hand over everything: the reply is the server's ``Estate``, with its sockets as descriptors.
        case handOver = 1
        /// Stop the server.
        case end = 2
    }

    private(set) var served = 0
    private var estate: Estate
    private let listener: CInt
    private var acceptance: DescriptorSource?
    private var clients: [CInt: Client] = [:]
    /// The port to which the successor sends its request, and which the loop holds.
    private var successor: MessagePort?

    private struct Client {
        let source: DescriptorSource
        /// The part of the line that has arrived.
        var text: String
    }

    var generation: Int { estate.generation }
    var port: UInt16 { estate.port }

    init(takingOverFrom lookUp: () throws -> RemotePort?) throws {
        guard let predecessor = try lookUp(), var reply = try Server.estate(of: predecessor) else {
            let (socket, port) = try Loopback.listen()
            listener = socket
            estate = Estate(generation: 1, lastNumber: 0, port: port, texts: [])
            return
        }
        estate = Estate(decoding: reply.bytes)
        estate.generation += 1
        guard let first = reply.descriptors.takeFirst() else { fatalError("there is a listener") }
        listener = first.release()
        for text in estate.texts {
            guard let client = reply.descriptors.takeFirst() else { fatalError("there is one for each") }
            try serve(client.release(), text)
        }
        // The name is free after the predecessor's port has ended.
        try predecessor.addInvalidationHandler { RunLoop.current.stop() }
        RunLoop.current.run()
    }

    /// Asks a server for everything; nil if it has ended, and has freed its name.
    private static func estate(of predecessor: RemotePort) throws -> MessagePort.Message? {
        do throws(MessagePortError) { return try predecessor.request(id: Question.handOver.rawValue) } catch {
            guard case .ended = error else { throw error }
            return nil
        }
    }

    /// Accepts clients, and waits for the successor.
    func serve(_ names: PortNames) throws {
        let acceptance = DescriptorSource(OwnedDescriptor(listener), interest: .read) {
            [unowned self] source, _ in
            do {
                while let socket = Loopback.accept(source.descriptor) { try serve(socket, "") }
            } catch { fatalError("\(error)") }
        }
        self.acceptance = acceptance
        try RunLoop.current.add(acceptance, forMode: .default)
        let port = try MessagePort(named: PortName("restart"), in: names)
        successor = port
        try RunLoop.current.add(port, forMode: .default) { [unowned self] message in
            switch Question(rawValue: message.id) {
            case .handOver: handOver(message)
            case .end: RunLoop.current.stop()
            case nil: break
            }
        }
    }

    /// Serves a client that has sent this part of its line.
    private func serve(_ socket: CInt, _ text: String) throws {
        let source = DescriptorSource(OwnedDescriptor(socket), interest: .read) {
            [unowned self] source, _ in
            do { try read(source) } catch { forget(source) }
        }
        clients[socket] = Client(source: source, text: text)
        try RunLoop.current.add(source, forMode: .default)
    }

    private func read(_ source: DescriptorSource) throws {
        guard let bytes = try Loopback.read(source.descriptor) else { return }
        if bytes.isEmpty { return forget(source) }
        clients[source.descriptor]?.text += String(decoding: bytes, as: UTF8.self)
        guard let text = clients[source.descriptor]?.text, text.hasSuffix("\n") else { return }
        estate.lastNumber += 1
        served += 1
        let answer = Array("\(generation) \(estate.lastNumber) \(text)".utf8)
        if try Loopback.write(answer, to: source.descriptor) != answer.count { fatalError("there is room") }
        forget(source)
    }

    private func forget(_ source: DescriptorSource) {
        clients[source.descriptor] = nil
        source.invalidate()
    }

    /// Hands over the sockets and the state, and ends.
    private func handOver(_ message: consuming MessagePort.Message) {
        let halfServed = clients.values.map { ($0.source.descriptor, $0.text) }
        estate.texts = halfServed.map(\.1)
        do {
            try message.reply(estate.encoded, descriptors: [listener] + halfServed.map(\.0))
        } catch {
            // The successor has ended, so this server continues.
            return complain("not handed over: \(error)")
        }
        // The kernel has duplicated the sockets into the reply. These are the originals.
        for client in clients.values { client.source.invalidate() }
        clients = [:]
        acceptance?.invalidate()
        successor?.invalidate()
        RunLoop.current.stop()
    }
}

/// The state, other than sockets, that one server leaves to the next.
struct Estate {
    var generation: Int
    /// The number of the last line.
    var lastNumber: Int
    /// The port at which the server listens.
    var port: UInt16
    /// The parts of lines that half-served clients have sent.
    var texts: [String]

    init(generation: Int, lastNumber: Int, port: UInt16, texts: [String]) {
        self.generation = generation
        self.lastNumber = lastNumber
        self.port = port
        self.texts = texts
    }

    var encoded: [UInt8] {
        Array((["\(generation) \(lastNumber) \(port)"] + texts).joined(separator: "\n").utf8)
    }

    init(decoding bytes: [UInt8]) {
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        let numbers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
        if numbers.count != 3 { fatalError("the predecessor is of another kind") }
        self.init(
            generation: numbers[0], lastNumber: numbers[1], port: UInt16(numbers[2]),
            texts: lines.dropFirst().map(String.init))
    }
}
