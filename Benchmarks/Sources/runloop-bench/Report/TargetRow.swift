/// One target, and its verdict in this run.
struct TargetRow: Codable {
    /// The name of the target in the list of targets.
    let id: String
    /// The quantity, and the yardstick by which it is divided.
    let what: String
    let target: Limit
    let stretch: Limit?
    /// The measured figure, or `nil` for a figure that could not be measured for the reason in ``note``.
    let figure: Spread?
    /// True if the figure is a count.
    ///
    /// Counts are the same on every machine, so a miss is a failure.
    let isCount: Bool
    var note: String?

    init(
        _ id: String, _ what: String, _ target: Limit, stretch: Limit? = nil, figure: Spread?,
        isCount: Bool = false, note: String? = nil
    ) {
        self.id = id
        self.what = what
        self.target = target
        self.stretch = stretch
        self.figure = figure
        self.isCount = isCount
        self.note = note
    }

    /// A bound for a figure.
    enum Limit: Codable {
        case atMost(Double)
        case below(Double)
        case atLeast(Double)

        /// True if `value` is within the bound.
        func holds(for value: Double) -> Bool {
            switch self {
            case .atMost(let bound): value <= bound
            case .below(let bound): value < bound
            case .atLeast(let bound): value >= bound
            }
        }

        /// The bound in mathematical notation.
        var description: String {
            switch self {
            case .atMost(let bound) where bound == 0: "0"
            case .atMost(let bound): "≤ \(NumberFormat.bound.text(bound))"
            case .below(let bound): "< \(NumberFormat.bound.text(bound))"
            case .atLeast(let bound): "≥ \(NumberFormat.bound.text(bound))"
            }
        }
    }

    /// The result for a target.
    enum Verdict: String {
        case stretch = "pass, stretch too"
        case pass
        case miss
        case unmeasured = "not measured"
    }

    /// The result for the median.
    var verdict: Verdict {
        guard let value = figure?.median else { return .unmeasured }
        if !target.holds(for: value) { return .miss }
        return stretch?.holds(for: value) == true ? .stretch : .pass
    }

    /// True if this row makes the program fail, which only counts do.
    var isFailure: Bool { isCount && (verdict == .miss || verdict == .unmeasured) }
}
