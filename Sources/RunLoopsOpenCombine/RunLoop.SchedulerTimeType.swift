#if OpenCombine
    public import Foundation
    public import OpenCombine
    public import RunLoops

    public import class RunLoops.RunLoop

    extension RunLoop {
        /// A date at which a loop performs an action.
        ///
        /// > Thread safety: a value.
        public struct SchedulerTimeType: Strideable, Codable, Hashable, Sendable {
            /// The date.
            public var date: Date

            /// Makes the time of a date.
            ///
            /// - Parameter date: The date.
            public init(_ date: Date) { self.date = date }

            /// Returns the time from this date to another one.
            ///
            /// - Parameter other: The other date.
            /// - Returns: The time between them; negative if the other date is earlier.
            public func distance(to other: SchedulerTimeType) -> Stride {
                Stride(other.date.timeIntervalSince(date))
            }

            /// Returns the date that is a time later than this one.
            ///
            /// - Parameter time: The time; negative for an earlier date.
            /// - Returns: The date.
            public func advanced(by time: Stride) -> SchedulerTimeType {
                SchedulerTimeType(date.addingTimeInterval(time.timeInterval))
            }
        }
    }

    extension RunLoop.SchedulerTimeType {
        /// The time between two dates, in seconds.
        ///
        /// > Thread safety: a value.
        public struct Stride: SchedulerTimeIntervalConvertible, Comparable, SignedNumeric,
            ExpressibleByFloatLiteral, Codable, Hashable, Sendable
        {
            /// The number of seconds.
            public var magnitude: TimeInterval

            /// The number of seconds.
            public var timeInterval: TimeInterval { magnitude }

            /// Makes the time of a number of seconds.
            ///
            /// - Parameter timeInterval: The seconds.
            public init(_ timeInterval: TimeInterval) { magnitude = timeInterval }

            /// Makes the time of a number of seconds.
            ///
            /// - Parameter value: The seconds.
            public init(integerLiteral value: TimeInterval) { self.init(value) }

            /// Makes the time of a number of seconds.
            ///
            /// - Parameter value: The seconds.
            public init(floatLiteral value: TimeInterval) { self.init(value) }

            /// Makes the time of a whole number of seconds; nil if a `TimeInterval` cannot be exactly that number.
            ///
            /// - Parameter source: The seconds.
            public init?<Source: BinaryInteger>(exactly source: Source) {
                guard let seconds = TimeInterval(exactly: source) else { return nil }
                self.init(seconds)
            }
        }
    }

    extension RunLoop.SchedulerTimeType.Stride {
        /// Makes the time of a number of seconds.
        ///
        /// - Parameter value: The seconds.
        /// - Returns: The time.
        public static func seconds(_ value: Int) -> Self { Self(TimeInterval(value)) }

        /// Makes the time of a number of seconds.
        ///
        /// - Parameter value: The seconds.
        /// - Returns: The time.
        public static func seconds(_ value: Double) -> Self { Self(value) }

        /// Makes the time of a number of milliseconds.
        ///
        /// - Parameter value: The milliseconds.
        /// - Returns: The time.
        public static func milliseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e3) }

        /// Makes the time of a number of microseconds.
        ///
        /// - Parameter value: The microseconds.
        /// - Returns: The time.
        public static func microseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e6) }

        /// Makes the time of a number of nanoseconds.
        ///
        /// - Parameter value: The nanoseconds.
        /// - Returns: The time.
        public static func nanoseconds(_ value: Int) -> Self { Self(TimeInterval(value) / 1e9) }

        /// Returns true if the first time is shorter.
        ///
        /// - Parameters:
        ///   - left: A time.
        ///   - right: Another time.
        /// - Returns: True if the first time is shorter.
        public static func < (left: Self, right: Self) -> Bool { left.magnitude < right.magnitude }

        /// Multiplies the seconds of two times.
        ///
        /// - Parameters:
        ///   - left: A time.
        ///   - right: Another time.
        /// - Returns: The product.
        public static func * (left: Self, right: Self) -> Self { Self(left.magnitude * right.magnitude) }

        /// Adds two times.
        ///
        /// - Parameters:
        ///   - left: A time.
        ///   - right: Another time.
        /// - Returns: The sum.
        public static func + (left: Self, right: Self) -> Self { Self(left.magnitude + right.magnitude) }

        /// Subtracts a time from another one.
        ///
        /// - Parameters:
        ///   - left: A time.
        ///   - right: The time to subtract.
        /// - Returns: The difference.
        public static func - (left: Self, right: Self) -> Self { Self(left.magnitude - right.magnitude) }

        /// Multiplies the seconds of a time by those of another one.
        ///
        /// - Parameters:
        ///   - left: The time to change.
        ///   - right: Another time.
        public static func *= (left: inout Self, right: Self) { left = left * right }
    }
#endif
