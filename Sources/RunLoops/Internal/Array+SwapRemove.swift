extension Array {
    /// Removes an element in constant time: the last element takes its place.
    ///
    /// - Parameter index: The index of the element.
    /// - Returns: The removed element.
    @discardableResult
    mutating func swapRemove(at index: Int) -> Element {
        let last = removeLast()
        if index == count { return last }
        return exchange(&self[index], with: last)
    }
}
