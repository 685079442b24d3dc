/// One figure a round of each of several things that take turns in the rounds.
struct RoundFigures<Key: Hashable> {
    private var figures: [Key: [Double]] = [:]

    /// Adds the next round's figure; once a round for each key.
    mutating func add(_ figure: Double, of key: Key) { figures[key, default: []].append(figure) }

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
