// The numbers of a report can come from another process, so no operation on them may overflow.

extension FixedWidthInteger {
    /// Returns the sum, or the lowest or highest value if the sum is beyond it.
    func clampedSum(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the lowest or highest value if the difference is beyond it.
    func clampedDifference(_ other: Self) -> Self {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }

    /// Rounds a number, and clamps it to the range of this type; 0 if it is no number.
    init(clampedRounding number: Double) {
        let rounded = number.rounded()
        if let exact = Self(exactly: rounded) {
            self = exact
        } else {
            self = rounded.isNaN ? 0 : rounded < 0 ? .min : .max
        }
    }
}
