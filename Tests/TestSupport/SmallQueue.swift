/// A queue of up to 16 numbers below 15 in one word, for the states of a model: copied and hashed at the cost of one number.
public struct SmallQueue: Hashable, Sendable {
    private var bits: UInt64 = 0

    /// Makes an empty queue.
    public init() {}

    /// True if the queue has no numbers.
    public var isEmpty: Bool { bits == 0 }

    /// The oldest number.
    public var first: Int? { bits == 0 ? nil : Int(bits & 15) - 1 }

    /// The number of numbers in the queue.
    public var count: Int {
        var count = 0
        while count < 16 && bits >> UInt64(4 * count) != 0 { count += 1 }
        return count
    }

    /// All numbers, oldest first.
    public var elements: [Int] { (0..<count).map { Int(bits >> UInt64(4 * $0) & 15) - 1 } }

    /// True if the queue has this number.
    public func contains(_ number: Int) -> Bool { elements.contains(number) }

    /// Adds a number.
    public mutating func append(_ number: Int) {
        precondition((0..<15).contains(number) && count < 16, "16 numbers below 15")
        bits |= UInt64(number + 1) << UInt64(4 * count)
    }

    /// Adds the numbers of another queue.
    public mutating func append(_ other: SmallQueue) { for number in other.elements { append(number) } }

    /// Adds a number in front of all others.
    public mutating func prepend(_ number: Int) {
        precondition((0..<15).contains(number) && count < 16, "16 numbers below 15")
        bits = bits << 4 | UInt64(number + 1)
    }

    /// Removes the oldest number, and returns it.
    public mutating func popFirst() -> Int? {
        let number = first
        bits >>= 4
        return number
    }

    /// Removes a number from any place in the queue.
    public mutating func remove(_ number: Int) {
        let rest = elements.filter { $0 != number }
        bits = 0
        for number in rest { append(number) }
    }

    /// Removes all numbers, and returns them.
    public mutating func removeAll() -> SmallQueue {
        defer { bits = 0 }
        return self
    }
}
