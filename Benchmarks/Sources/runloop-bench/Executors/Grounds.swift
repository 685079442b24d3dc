internal import NIOCore
internal import RunLoops

/// The threads that the walks lead to, two of each kind, for as long as the program runs.
struct Grounds {
    private let loops: [RunLoopThread]
    private let parkedLoops: [RunLoopThread]
    private let nioLoops: [NIOLoop]
    private let nears: [ThreadNumber]
    private let fars: [ThreadNumber]

    init() throws {
        loops = [try RunLoopThread(name: "near"), try RunLoopThread(name: "far")]
        parkedLoops = [try RunLoopThread(name: "near, park"), try RunLoopThread(name: "far, park")]
        nioLoops = [NIOLoop(), NIOLoop()]
        let parked = try parkedLoops.map { thread in
            try thread.runLoop.performAndWait {
                RunLoop.current.waitPolicy = .park
                return ThreadNumber.current
            }
        }
        let numbers = try loops.map { try $0.runLoop.performAndWait { ThreadNumber.current } }
        nears = [numbers[0], parked[0], nioLoops[0].number]
        fars = [numbers[1], parked[1], nioLoops[1].number]
    }

    /// The walks of a path.
    func walks(_ path: HopPath) -> [Walk] {
        path.subjects.map { subject in
            let key = Walk.Key(path: path, subject: subject)
            guard let places = executors(subject) else {
                return Walk(key, near: PlainStation(), far: PlainStation())
            }
            let far = path == .twoExecutors ? places[1] : places[0]
            return Walk(key, near: PinnedStation(on: places[0]), far: PinnedStation(on: far))
        }
    }

    /// What the tasks of a path prefer; nil for the default executor.
    func preference(_ path: HopPath) -> (any TaskExecutor)? {
        path == .preferring ? loops[0].runLoop.taskExecutor : nil
    }

    /// Puts the threads where the path wants them.
    ///
    /// What meets the default executor is free: that one's threads cannot be told where to be.
    func place(for path: HopPath, on machine: Machine) {
        let placement: Placement =
            path == .pool ? .unpinned : machine.processors.count > 1 ? .twoProcessors : .oneProcessor
        placement.pin(near: nears, far: fars, on: machine)
    }

    private func executors(_ subject: HopSubject) -> [any SerialExecutor]? {
        switch subject {
        case .runLoops: loops.map(\.runLoop)
        case .parked: parkedLoops.map(\.runLoop)
        case .nio: nioLoops.map(\.loop.executor)
        case .standard: nil
        }
    }
}
