#if NIO
    public import Dispatch
    public import NIOCore
    public import RunLoops
    internal import Synchronization

    /// A group of event loops of SwiftNIO, each a part of a run loop.
    ///
    /// The group either starts a thread for each event loop, or consists of event loops of threads that you own.
    ///
    /// > Thread safety: any thread.
    public final class RunLoopEventLoopGroup: EventLoopGroup {
        private let loops: [RunLoopEventLoop]
        /// The threads that the group has started.
        private let threads: [RunLoopThread]
        private let nextNumber = Atomic<UInt>(0)

        /// Starts threads, each with a run loop and an event loop.
        ///
        /// Shut the group down to end the threads.
        ///
        /// - Parameters:
        ///   - count: The number of threads; at least one.
        ///   - name: The name of the threads, to which their numbers are appended.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        /// - Throws: `SystemError` if the system refuses a thread or the descriptors of its loop. In that case no thread is left behind.
        public init(
            numberOfThreads count: Int, name: String = "nio", fileID: StaticString = #fileID,
            line: Int = #line
        ) throws(SystemError) {
            if count < 1 {
                misuse("RunLoopEventLoopGroup.init: \(count) threads; a group has at least one")
            }
            var threads: [RunLoopThread] = []
            var loops: [RunLoopEventLoop] = []
            do throws(SystemError) {
                for number in 0..<count {
                    let thread = try RunLoopThread(name: "\(name)\(number)")
                    threads.append(thread)
                    loops.append(RunLoopEventLoopGroup.eventLoop(of: thread, fileID, line))
                }
            } catch {
                for thread in threads { RunLoopEventLoopGroup.end(thread) }
                throw error
            }
            self.loops = loops
            self.threads = threads
        }

        /// Makes a group of event loops of threads that you own.
        ///
        /// The end of the group ends the event loops, but not the threads.
        ///
        /// - Parameter loops: The event loops; at least one.
        public init(_ loops: [RunLoopEventLoop]) {
            if loops.isEmpty { misuse("RunLoopEventLoopGroup.init: no event loop; a group has at least one") }
            self.loops = loops
            threads = []
        }

        private static func eventLoop(of thread: RunLoopThread, _ fileID: StaticString, _ line: Int)
            -> RunLoopEventLoop
        {
            do {
                return try thread.runLoop.performAndWait { RunLoopEventLoop(fileID: fileID, line: line) }
            } catch { preconditionFailure("nobody else knows the thread: \(error)") }
        }

        private static func end(_ thread: RunLoopThread) {
            thread.stop()
            thread.join()
        }

        /// The next event loop, in turn.
        ///
        /// - Returns: The event loop.
        public func next() -> any EventLoop { nextLoop() }

        var allLoops: [RunLoopEventLoop] { loops }

        func nextLoop() -> RunLoopEventLoop {
            if loops.count == 1 { return loops[0] }
            let number = nextNumber.add(1, ordering: .relaxed).oldValue
            return loops[Int(number % UInt(loops.count))]
        }

        /// The event loop of the calling thread if the group has one, or else the next one.
        ///
        /// - Returns: The event loop.
        public func any() -> any EventLoop { loops.first { $0.inEventLoop } ?? nextLoop() }

        /// The event loops, in order.
        ///
        /// - Returns: An iterator.
        public func makeIterator() -> EventLoopIterator { EventLoopIterator(loops) }

        /// Ends all event loops, as their own ``RunLoopEventLoop/shutdownGracefully(queue:_:)`` does, and then ends and joins the threads
        /// that the group has started.
        ///
        /// - Parameters:
        ///   - queue: The queue that calls the callback.
        ///   - callback: Called when all is ended; the error is always nil.
        public func shutdownGracefully(
            queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void
        ) {
            let rest = DispatchGroup()
            let waiting = DispatchQueue.global()
            for loop in loops {
                rest.enter()
                loop.shutdownGracefully(queue: waiting) { _ in rest.leave() }
            }
            // The threads are joined on a thread of Dispatch, because the caller must not be blocked.
            rest.notify(queue: waiting) { [threads] in
                for thread in threads { RunLoopEventLoopGroup.end(thread) }
                queue.async { callback(nil) }
            }
        }
    }
#endif
