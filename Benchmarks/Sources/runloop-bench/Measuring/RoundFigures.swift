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
