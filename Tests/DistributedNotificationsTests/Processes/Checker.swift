/// Proves the contract of order and completeness from what the processes of a fleet have written.
struct Checker {
    /// A post as its poster has written it.
    private struct Posted {
        let number: UInt64
        let name: String
        let time: Int64
    }

    private var posted: [String: [Posted]] = [:]
    private var killed: Set<String> = []
    private(set) var gapCount = 0
    private(set) var deliveredCount = 0

    init(_ fleet: Fleet) {
        for index in fleet.members.indices where fleet.members[index].role == "post" {
            let lines = fleet.lines(of: index)
            guard let poster = lines.first(where: { $0.first == "poster" })?[1] else { continue }
            if !fleet.members[index].isAlive { killed.insert(poster) }
            posted[poster] = lines.filter { $0.first == "post" && $0.count == 4 }.map {
                Posted(number: UInt64($0[1]) ?? 0, name: $0[2], time: Int64($0[3]) ?? 0)
            }
        }
    }

    /// Checks one observer.
    ///
    /// - Parameters:
    ///   - lines: The lines of the observer.
    ///   - isComplete: True if everything must be accounted for, not only what is below a delivered number.
    ///   - isLate: True if the observer came after the posters. The contract does not cover a poster that was killed before an
    ///     engine told the observer of it.
    /// - Returns: The failure; nil if the contract holds.
    mutating func failure(of lines: [[String]], isComplete: Bool, isLate: Bool) -> String? {
        guard let confirmed = lines.first(where: { $0.first == "confirmed" }).flatMap({ Int64($0[1]) }) else {
            return "the observer was never confirmed"
        }
        var delivered: [String: [UInt64]] = [:]
        var gaps: [String: [ClosedRange<UInt64>]] = [:]
        for line in lines {
            if line.first == "note", line.count == 4, let number = UInt64(line[2]) {
                if let last = delivered[line[1]]?.last, last >= number {
                    return "\(line[1]) \(number) comes after \(last)"
                }
                if gaps[line[1]]?.contains(where: { $0.upperBound != .max && $0.contains(number) }) == true {
                    return "\(line[1]) \(number) is delivered, and in a gap"
                }
                delivered[line[1], default: []].append(number)
                deliveredCount += 1
            } else if line.first == "gap", line.count == 6, let from = UInt64(line[2]),
                let to = UInt64(line[3])
            {
                if to != .max, delivered[line[1]]?.contains(where: { from <= $0 && $0 <= to }) == true {
                    return "a gap from \(from) to \(to) covers a delivery of \(line[1])"
                }
                gaps[line[1], default: []].append(from...to)
                gapCount += 1
            }
        }
        for (poster, posts) in posted {
            if isLate && killed.contains(poster) && delivered[poster] == nil && gaps[poster] == nil {
                continue
            }
            let numbers = Set(delivered[poster] ?? [])
            let newest = delivered[poster]?.last ?? 0
            for post in posts where post.name == "a" && post.time > confirmed {
                if numbers.contains(post.number) { continue }
                if gaps[poster]?.contains(where: { $0.contains(post.number) }) == true { continue }
                if isComplete || post.number < newest {
                    return "\(poster) \(post.number) is missing in silence, the newest is \(newest), "
                        + (killed.contains(poster) ? "the poster was killed" : "the poster lives")
                }
            }
        }
        return nil
    }
}
