internal import RunLoops

/// Isolates port sets: two threads without loops, each asleep in a set of two ports, one of which is never used.
///
/// Read the ratio to raw: what waking costs where no descriptor can be watched.
final class PortSetPingPong: PingPong {
    private let near = WorkerThread()
    private let far = WorkerThread()
    private let nearPort = Port<Int>()
    private let farPort = Port<Int>()
    private let nearSet = PortSet<Int>()
    private let rally: Rally

    init(rally: Rally) {
        self.rally = rally
        nearSet.add(nearPort)
        nearSet.add(Port<Void>()) { 0 }
        far.run { [nearPort, farPort] in
            let farSet = PortSet<Int>()
            farSet.add(farPort)
            farSet.add(Port<Void>()) { 0 }
            // It lasts as long as the program; what goes wrong is noticed on the other side.
            do { while true { try nearPort.send(farSet.receive()) } } catch {}
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [nearSet, farPort, rally] in
            rally.begin()
            do {
                var value = 0
                repeat {
                    try farPort.send(value)
                    value = try nearSet.receive() &+ 1
                } while rally.returned()
            } catch {
                rally.fail("PortSet.receive: \(error)")
            }
        }
    }
}
