/// A list in which a place stays valid whatever is added or removed: a place is a serial number, and not an index.
///
/// So a walk over the list can stop anywhere, and continue later. The list consists of short parts, so that no change moves more than
/// one part, whatever the length of the list.
struct SerialList<Element: Sendable>: Sendable {
    typealias Entry = (serial: UInt64, element: Element)

    private static var sizeOfPart: Int { 64 }

    /// The elements in ascending order of their serial numbers, in parts; none of the parts is empty.
    private var parts: [[Entry]] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The first element, and its serial number.
    var first: Entry? { parts.first?.first }

    /// Adds an element; its serial number is higher than all others of the list.
    mutating func append(_ element: Element, serial: UInt64) {
        count += 1
        let last = parts.count - 1
        if last >= 0, parts[last].count < SerialList.sizeOfPart {
            parts[last].append((serial, element))
        } else {
            parts.append([(serial, element)])
        }
    }

    /// Removes the element with a serial number.
    mutating func remove(_ serial: UInt64) {
        let part = SerialList.firstIndex(of: parts.count) { parts[$0][0].serial > serial } - 1
        let index =
            part < 0 ? 0 : SerialList.firstIndex(of: parts[part].count) { parts[part][$0].serial >= serial }
        guard part >= 0, index < parts[part].count, parts[part][index].serial == serial else {
            preconditionFailure("an element is removed once")
        }
        count -= 1
        parts[part].remove(at: index)
        if parts[part].isEmpty {
            parts.remove(at: part)
        } else {
            merge(part)
            merge(part - 1)
        }
    }

    /// Merges a part with the next one if both have few elements, so that few elements do not use much memory.
    private mutating func merge(_ part: Int) {
        guard part >= 0, part + 1 < parts.count,
            parts[part].count + parts[part + 1].count <= SerialList.sizeOfPart / 2
        else { return }
        parts[part] += parts.remove(at: part + 1)
    }

    /// Returns the first element whose serial number is above the given one.
    func next(after serial: UInt64) -> Entry? { some(after: serial, atMost: 1).first }

    /// Returns the first elements whose serial numbers are above one number, and not above another one.
    func some(after serial: UInt64, upTo end: UInt64 = .max, atMost most: Int) -> [Entry] {
        var found: [Entry] = []
        var part = max(SerialList.firstIndex(of: parts.count) { parts[$0][0].serial > serial } - 1, 0)
        while part < parts.count {
            let entries = parts[part]
            for entry in entries[SerialList.firstIndex(of: entries.count) { entries[$0].serial > serial }...]
            {
                if found.count >= most || entry.serial > end { return found }
                found.append(entry)
            }
            part += 1
        }
        return found
    }

    /// Returns the first of some numbers for which a condition holds that holds for all later ones, too; the count if there is none.
    private static func firstIndex(of count: Int, where isAt: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAt(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
