/// Eight small numbers in one word, for the states of a model, which are copied and hashed at the cost of one number.
public struct Octets: Hashable, Sendable {
    private var bits: UInt64 = 0

    /// Makes eight zeros.
    public init() {}

    /// The number at an index.
    public subscript(index: Int) -> Int {
        get { Int(bits >> UInt64(index * 8) & 255) }
        set {
            precondition((0..<8).contains(index) && (0..<256).contains(newValue), "eight numbers below 256")
            bits &= ~(255 << UInt64(index * 8))
            bits |= UInt64(newValue) << UInt64(index * 8)
        }
    }
}
