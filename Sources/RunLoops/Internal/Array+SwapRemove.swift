extension Array {
    /// Removes the element at an index. The last element takes its place, so the others need not move.
    ///
    /// - Returns: The removed element.
    @discardableResult
    mutating func swapRemove(at index: Int) -> Element {
        let last = removeLast()
        if index == count { return last }
        defer { self[index] = last }
        return self[index]
    }
}
