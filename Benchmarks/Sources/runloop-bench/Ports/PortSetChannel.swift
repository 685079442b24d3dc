internal import RunLoops

/// Isolates receiving from a port set: one thread without a loop takes the messages of one port, one at a time.
final class PortSetChannel: MessageChannel {
    private let port: Port<Int>
    private let consumer = WorkerThread()

    init(_ port: Port<Int>, sink: Sink) {
        self.port = port
        consumer.run { [port] in
            let set = PortSet<Int>()
            set.add(port)
            // It lasts as long as the program; a message that is not received is noticed.
            do { while true { sink.receive(try set.receive()) } } catch {}
        }
    }

    var consumerThreads: [ThreadNumber] { [consumer.number] }

    func send(_ count: Int, from start: Int, producer: Int) throws -> Int {
        for value in start..<start + count { try port.send(value) }
        return sum(count, from: start)
    }
}
