extension Array {
    /// The array in parts of at most so many elements; one empty part if it is empty.
    func parts(of most: Int) -> [ArraySlice<Element>] {
        if isEmpty { return [[]] }
        return stride(from: 0, to: count, by: most).map { self[$0..<Swift.min($0 + most, count)] }
    }
}
