extension Array {
    /// Splits the array into slices of at most `most` elements; an empty array gives one empty slice.
    func parts(of most: Int) -> [ArraySlice<Element>] {
        if isEmpty { return [[]] }
        return stride(from: 0, to: count, by: most).map { self[$0..<Swift.min($0 + most, count)] }
    }
}
