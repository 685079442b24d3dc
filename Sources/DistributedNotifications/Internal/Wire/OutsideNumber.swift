/// A number that another process has sent: a count, a length, the number of a post, or a part of a position.
///
/// It is below 2⁶³. So the sum of two such numbers fits into `UInt64`, the number itself fits into `Int`, and one can be added to it
/// or, if it is not 0, subtracted from it, without a check. Numbers from outside are read as this type, and nowhere as another one.
///
/// A pure value.
package struct OutsideNumber: Hashable, Comparable, Sendable {
    package let value: UInt64

    /// The number as a count of elements or bytes.
    package var count: Int { Int(truncatingIfNeeded: value) }

    /// Takes a number; nil if it is not below 2⁶³.
    package init?(_ value: UInt64) {
        if value > UInt64(Int64.max) { return nil }
        self.value = value
    }

    /// Takes a number; nil if it is negative.
    package init?(_ value: Int64) {
        guard let value = UInt64(exactly: value) else { return nil }
        self.value = value
    }

    /// Reads a number from decimal digits; nil if there is any other byte, no digit, or a number that is not below 2⁶³.
    package init?(decimal digits: some Sequence<UInt8>) {
        var value: UInt64 = 0
        var isEmpty = true
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            let (tenfold, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tenfold.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            if overflows || overflowsToo || sum > UInt64(Int64.max) { return nil }
            value = sum
            isEmpty = false
        }
        if isEmpty { return nil }
        self.value = value
    }

    package static func < (left: OutsideNumber, right: OutsideNumber) -> Bool { left.value < right.value }
}
