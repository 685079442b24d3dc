#if OpenCombine
    internal import Foundation
    internal import FoundationRunLoops
    public import OpenCombine

    public import class RunLoops.RunLoop

    extension RunLoop {
        /// A loop as a scheduler of OpenCombine, under the name that OpenCombineFoundation has for Foundation's loop.
        ///
        /// > Thread safety: any thread.
        public struct OCombine: Scheduler, Sendable {
            /// The date at which a loop performs an action.
            public typealias SchedulerTimeType = RunLoop.SchedulerTimeType

            /// The options of a loop as a scheduler; there are none.
            ///
            /// > Thread safety: a value.
            public struct SchedulerOptions: Sendable {}

            /// The loop.
            public let runLoop: RunLoop

            /// Makes the scheduler of a loop.
            ///
            /// - Parameter runLoop: The loop.
            public init(_ runLoop: RunLoop) { self.runLoop = runLoop }

            /// The present date.
            public var now: SchedulerTimeType { SchedulerTimeType(Date()) }

            /// The smallest tolerance, which is zero.
            public var minimumTolerance: SchedulerTimeType.Stride { 0 }

            /// Performs an action on the loop's thread, in the default mode.
            ///
            /// Actions of one thread are performed in the order of the calls.
            ///
            /// - Parameters:
            ///   - options: Ignored.
            ///   - action: The action.
            public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
                let passed = Passed(action)
                runLoop.perform(inModes: [.default], block: { passed.action() })
            }

            /// Performs an action on the loop's thread at a date, in the default mode.
            ///
            /// - Parameters:
            ///   - date: The date.
            ///   - tolerance: The time by which the action may be late to share a wake-up of the loop.
            ///   - options: Ignored.
            ///   - action: The action.
            public func schedule(
                after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride,
                options: SchedulerOptions?, _ action: @escaping () -> Void
            ) {
                add(Timer(fire: date.date, interval: 0, repeats: false) { _ in action() }, tolerance)
            }

            /// Performs an action on the loop's thread repeatedly, in the default mode.
            ///
            /// - Parameters:
            ///   - date: The date of the first time.
            ///   - interval: The time between two times.
            ///   - tolerance: The time by which the action may be late to share a wake-up of the loop; at most half the interval.
            ///   - options: Ignored.
            ///   - action: The action.
            /// - Returns: What ends the repetition, on any thread.
            public func schedule(
                after date: SchedulerTimeType, interval: SchedulerTimeType.Stride,
                tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
                _ action: @escaping () -> Void
            ) -> any Cancellable {
                let timer = Timer(fire: date.date, interval: interval.timeInterval, repeats: true) { _ in
                    action()
                }
                add(timer, tolerance)
                return AnyCancellable { timer.invalidate() }
            }

            private func add(_ timer: Timer, _ tolerance: SchedulerTimeType.Stride) {
                timer.tolerance = max(tolerance.timeInterval, 0)
                runLoop.add(timer, forMode: .default)
            }
        }

        /// The loop as a scheduler of OpenCombine.
        public var ocombine: OCombine { OCombine(self) }
    }

    /// An action that is passed to the thread of a loop.
    ///
    /// `@unchecked Sendable`: as with every scheduler of OpenCombine, the publisher is responsible for what its action holds.
    private struct Passed: @unchecked Sendable {
        let action: () -> Void
        init(_ action: @escaping () -> Void) { self.action = action }
    }

    extension RunLoop: Scheduler {
        /// The options of a loop as a scheduler; there are none.
        public typealias SchedulerOptions = OCombine.SchedulerOptions

        /// The present date.
        ///
        /// > Thread safety: any thread.
        public var now: SchedulerTimeType { ocombine.now }

        /// The smallest tolerance, which is zero.
        ///
        /// > Thread safety: any thread.
        public var minimumTolerance: SchedulerTimeType.Stride { ocombine.minimumTolerance }

        /// Performs an action on the loop's thread, in the default mode.
        ///
        /// - Parameters:
        ///   - options: Ignored.
        ///   - action: The action.
        ///
        /// > Thread safety: any thread.
        public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
            ocombine.schedule(options: options, action)
        }

        /// Performs an action on the loop's thread at a date, in the default mode.
        ///
        /// - Parameters:
        ///   - date: The date.
        ///   - tolerance: The time by which the action may be late.
        ///   - options: Ignored.
        ///   - action: The action.
        ///
        /// > Thread safety: any thread.
        public func schedule(
            after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
            _ action: @escaping () -> Void
        ) { ocombine.schedule(after: date, tolerance: tolerance, options: options, action) }

        /// Performs an action on the loop's thread repeatedly, in the default mode.
        ///
        /// - Parameters:
        ///   - date: The date of the first time.
        ///   - interval: The time between two times.
        ///   - tolerance: The time by which the action may be late.
        ///   - options: Ignored.
        ///   - action: The action.
        /// - Returns: What ends the repetition, on any thread.
        ///
        /// > Thread safety: any thread.
        public func schedule(
            after date: SchedulerTimeType, interval: SchedulerTimeType.Stride,
            tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?, _ action: @escaping () -> Void
        ) -> any Cancellable {
            ocombine.schedule(
                after: date, interval: interval, tolerance: tolerance, options: options, action)
        }
    }
#endif
