/// An array that grows by a part at a time, and never moves its elements.
///
/// An `Array` that is full moves all its elements in one step, which takes milliseconds for as many as a hub may have.
struct GradualArray<Element: Sendable>: Sendable {
    private static var sizeOfPart: Int { 256 }

    private var parts: [[Element]] = []
    private(set) var count = 0

    subscript(index: Int) -> Element {
        get { parts[index / GradualArray.sizeOfPart][index % GradualArray.sizeOfPart] }
        _modify { yield &parts[index / GradualArray.sizeOfPart][index % GradualArray.sizeOfPart] }
    }

    mutating func append(_ element: Element) {
        if count == parts.count * GradualArray.sizeOfPart { parts.append([]) }
        parts[parts.count - 1].append(element)
        count += 1
    }
}
