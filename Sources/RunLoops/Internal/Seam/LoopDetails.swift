/// The part of a loop's state that only the loop's own thread can read.
package struct LoopDetails: Sendable {
    /// The mode in which the loop was running when it collected the details; nil between runs.
    package let mode: String?
    /// The number of nested runs of the loop that have not returned.
    package let depth: Int
    package let commonModes: [String]
    package internal(set) var inputs: [Input]

    /// An input of the loop.
    package struct Input: Sendable {
        package let kind: Kind
        /// The source location at which the input was made.
        package let madeAt: String
        package let modes: [String]
    }

    /// The kind of an input, with the details that only this kind has.
    package enum Kind: Sendable {
        /// A timer; its date is nil if no fire is planned.
        case timer(date: Moment?, interval: Duration, missed: Int)
        /// A port; a limit of 0 means no limit.
        case port(count: Int, limit: Int, waitingSenders: Int, carriesSignals: Bool)
        case descriptor(CInt)
        case manualSource
        case observer
        /// An input or object of another module: its kind in words, and its counts.
        case other(String, [InspectedPart.Count])
    }
}
