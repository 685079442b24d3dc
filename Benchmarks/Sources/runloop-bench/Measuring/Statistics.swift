internal import Foundation
internal import Histogram

/// The median and the spread of a figure that was taken once in each round.
struct Spread: Codable {
    /// Half of the rounds are below this value.
    let median: Double
    /// A quarter of the rounds are below `lowerQuartile`, and a quarter are above `upperQuartile`.
    let lowerQuartile, upperQuartile: Double
    /// The lowest and the highest round.
    let least, most: Double
    /// The number of rounds.
    let count: Int

    /// Summarises the rounds, or returns `nil` if there are none.
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
        count = sorted.count
        least = first
        most = last
    }

    /// Summarises the ratios of two figures of the same rounds, or returns `nil` if there are none.
    ///
    /// A disturbance of the machine slows down both figures, and cancels out.
    init?(ratios figures: [Double], to yardstick: [Double]) {
        self.init(zip(figures, yardstick).map { $0 / $1 })
    }
}

/// The figures of several subjects that take turns, one for each subject and round.
struct RoundFigures<Key: Hashable> {
    private var figures: [Key: [Double]] = [:]

    /// Adds the figure of the next round, which must happen once in each round for each key.
    mutating func add(_ figure: Double, of key: Key) { figures[key, default: []].append(figure) }

    /// The figure of the latest round, or `nil` if there is none.
    func latest(_ key: Key) -> Double? { figures[key]?.last }

    /// The figures of one key, in the order of the rounds.
    func rounds(_ key: Key) -> [Double] { figures[key] ?? [] }

    /// The spread of one key's rounds, or `nil` if there are none.
    func spread(_ key: Key) -> Spread? { Spread(figures[key] ?? []) }

    /// The spread of one key's rounds, each converted by `value`, or `nil` if there are none.
    func spread(_ key: Key, of value: (Double) -> Double) -> Spread? {
        Spread((figures[key] ?? []).map(value))
    }

    /// The ratios of the figures of two keys in the same rounds, or `nil` if there are none.
    func ratio(_ key: Key, to yardstick: Key) -> Spread? {
        Spread(ratios: figures[key] ?? [], to: figures[yardstick] ?? [])
    }

    /// The differences of the figures of two keys in the same rounds, each converted by `value`, or `nil` if there are none.
    func difference(_ key: Key, less other: Key, of value: (Double) -> Double = { $0 }) -> Spread? {
        Spread(zip(figures[key] ?? [], figures[other] ?? []).map { value($0 - $1) })
    }
}

extension Table.Row {
    /// Adds the median as `key`, and the quartiles as `keyLow` and `keyHigh`.
    mutating func add(_ spread: Spread?, as key: String) {
        guard let spread else { return }
        figures[key] = spread.median
        figures[key + "Low"] = spread.lowerQuartile
        figures[key + "High"] = spread.upperQuartile
    }
}

/// The cost of an operation at several sizes, in nanoseconds: one figure for each size and round.
struct SizeFigures {
    /// The sizes in ascending order, each of which is compared with the first.
    let sizes: [Int]
    /// The name of the things that a size counts, in the plural.
    let thing: String
    private var times = RoundFigures<Int>()

    init(_ sizes: [Int], _ thing: String) {
        self.sizes = sizes
        self.thing = thing
    }

    mutating func add(_ time: Double, of size: Int) { times.add(time, of: size) }

    /// The ratios of the figures of one size to the figures of the smallest size.
    func ratio(of size: Int) -> Spread? { times.ratio(size, to: sizes[0]) }

    /// A table with a row for each size.
    func table(_ title: String, _ unit: String, _ format: NumberFormat, ratio: String) -> Table {
        var table = Table(
            title: "\(title) (\(unit))",
            columns: [
                .ranged(unit, "time", format),
                .ranged(ratio, "ratio", .ratio),
            ])
        table.rows = sizes.map { size in
            var row = Table.Row(name: "\(NumberFormat.grouped(size)) \(thing)")
            row.add(times.spread(size), as: "time")
            row.add(self.ratio(of: size), as: "ratio")
            return row
        }
        return table
    }

    /// Returns a chart with the costs as one line.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - level: The meaning of a level line, as the end of a sentence.
    ///   - name: The name of the line.
    /// - Returns: The chart.
    func chart(_ title: String, level: String, _ name: String) -> Chart {
        .costs(
            title, level: level, size: thing,
            lines: [
                Chart.Line(
                    name: name, role: .ours,
                    points: sizes.compactMap { size in
                        times.spread(size).map { Chart.Point(size: size, cost: $0) }
                    })
            ])
    }
}

/// The delays of timers or the times of round trips, in nanoseconds.
typealias TimeHistogram = Histogram<UInt64>

extension TimeHistogram {
    /// An empty histogram for times up to 100 seconds, with three significant digits.
    init() { self.init(highestTrackableValue: 100_000_000_000, numberOfSignificantValueDigits: .three) }

    /// The figures of a row: some percentiles, by their names, and the maximum.
    var percentiles: [String: Double] {
        var figures: [String: Double] = [:]
        for (key, percentile) in [("p50", 50.0), ("p90", 90), ("p99", 99), ("max", 100)] {
            figures[key] = Double(valueAtPercentile(percentile))
        }
        return figures
    }

    /// The distribution as a part of a chart.
    func distribution(_ name: String, _ role: Chart.Role) -> Chart.Distribution {
        Chart.Distribution(
            name: name, role: role, median: Double(valueAtPercentile(50)),
            ninetyNinth: Double(valueAtPercentile(99)), bins: bins())
    }

    /// The shares of all samples in steps of a twentieth of a decade.
    ///
    /// - Parameter value: Turns the value of a sample into nanoseconds.
    /// - Returns: The steps that have any samples, in order.
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
