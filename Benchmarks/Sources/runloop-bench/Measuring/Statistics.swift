internal import Foundation
internal import Histogram

/// A figure that was taken once a round: its median, and how far the rounds lie apart.
struct Spread: Codable {
    /// Half of the rounds lie below.
    let median: Double
    /// A quarter of the rounds lie below this, a quarter above the other.
    let lowerQuartile, upperQuartile: Double
    /// The outermost rounds.
    let least, most: Double

    /// Sums up the rounds; `nil` without any.
    init?(_ rounds: [Double]) {
        let sorted = rounds.filter(\.isFinite).sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        func quantile(_ share: Double) -> Double {
            let position = share * Double(sorted.count - 1)
            let below = Int(position)
            let above = min(below + 1, sorted.count - 1)
            return sorted[below] + (sorted[above] - sorted[below]) * (position - Double(below))
        }
        median = quantile(0.5)
        lowerQuartile = quantile(0.25)
        upperQuartile = quantile(0.75)
        least = first
        most = last
    }

    /// Of the quotients of two figures of the same round.
    ///
    /// What slowed the machine down for a while slowed both, and cancels out.
    init?(ratios figures: [Double], to yardstick: [Double]) {
        self.init(zip(figures, yardstick).map { $0 / $1 })
    }
}

/// One figure a round of each of several things that take turns in the rounds.
struct RoundFigures<Key: Hashable> {
    private var figures: [Key: [Double]] = [:]

    /// Adds the next round's figure; once a round for each key.
    mutating func add(_ figure: Double, of key: Key) { figures[key, default: []].append(figure) }

    /// The latest round's figure; `nil` if there was none.
    func latest(_ key: Key) -> Double? { figures[key]?.last }

    /// The rounds of one key; `nil` if there was none.
    func spread(_ key: Key) -> Spread? { Spread(figures[key] ?? []) }

    /// The rounds of one key, each turned into something else; `nil` if there was none.
    func spread(_ key: Key, of value: (Double) -> Double) -> Spread? {
        Spread((figures[key] ?? []).map(value))
    }

    /// The quotients of two keys' figures of the same rounds; `nil` if there was none.
    func ratio(_ key: Key, to yardstick: Key) -> Spread? {
        Spread(ratios: figures[key] ?? [], to: figures[yardstick] ?? [])
    }

    /// How much more one key's figures are than another's of the same rounds, each difference turned into something
    /// else; `nil` if there was none.
    func difference(_ key: Key, less other: Key, of value: (Double) -> Double = { $0 }) -> Spread? {
        Spread(zip(figures[key] ?? [], figures[other] ?? []).map { value($0 - $1) })
    }
}

extension Table.Row {
    /// Adds the median and the range of half of the rounds, as `key`, `keyLow` and `keyHigh`.
    mutating func add(_ spread: Spread?, as key: String) {
        guard let spread else { return }
        figures[key] = spread.median
        figures[key + "Low"] = spread.lowerQuartile
        figures[key + "High"] = spread.upperQuartile
    }
}

/// What something costs as it grows, in nanoseconds: one figure a round for each size.
struct SizeFigures {
    /// The sizes, smallest first; all are compared with that.
    let sizes: [Int]
    /// What there are so many of.
    let thing: String
    private var times = RoundFigures<Int>()

    init(_ sizes: [Int], _ thing: String) {
        self.sizes = sizes
        self.thing = thing
    }

    mutating func add(_ time: Double, of size: Int) { times.add(time, of: size) }

    /// The quotients of a size's figures and those of the smallest.
    func ratio(of size: Int) -> Spread? { times.ratio(size, to: sizes[0]) }

    /// A row for each size.
    func table(_ title: String, _ unit: String, _ format: NumberFormat, ratio: String) -> Table {
        var table = Table(
            title: "\(title) (\(unit))",
            columns: [
                .init(unit, "time", format), .init("from", "timeLow", format),
                .init("to", "timeHigh", format),
                .init(ratio, "ratio", .ratio), .init("from", "ratioLow", .ratio),
                .init("to", "ratioHigh", .ratio),
            ])
        table.rows = sizes.map { size in
            var row = Table.Row(name: "\(NumberFormat.grouped(size)) \(thing)")
            row.add(times.spread(size), as: "time")
            row.add(self.ratio(of: size), as: "ratio")
            return row
        }
        return table
    }

    /// One line that grows with the size.
    ///
    /// - Parameters:
    ///   - title: What is drawn.
    ///   - level: What a level line means.
    ///   - name: Whose line it is.
    /// - Returns: The chart.
    func chart(_ title: String, level: String, _ name: String) -> Chart {
        .growth(
            title: title,
            reading:
                "Level means that \(level); both scales go up tenfold from line to line. Each point is the median of all "
                + "rounds, the thin line spans half of them.",
            size: thing,
            lines: [
                Chart.Line(
                    name: name, role: .ours,
                    points: sizes.compactMap { size in
                        times.spread(size).map { Chart.Point(size: size, cost: $0) }
                    })
            ])
    }
}

extension Histogram {
    /// The shares of all samples in steps of a twentieth of a decade.
    ///
    /// - Parameter value: What a sample stands for, in nanoseconds.
    /// - Returns: The steps that have any, in order.
    func bins(of value: (Double) -> Double = { $0 }) -> [Chart.Bin] {
        var shares: [Int: Double] = [:]
        for step in recordedValues() {
            let bin = Int((log10(value(Double(step.value))) * 20).rounded(.down))
            shares[bin, default: 0] += Double(step.count) / Double(totalCount)
        }
        return shares.sorted { $0.key < $1.key }.map {
            Chart.Bin(start: pow(10, Double($0.key) / 20), share: $0.value)
        }
    }
}
