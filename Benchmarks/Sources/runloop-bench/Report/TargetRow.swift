/// One target, and whether this run reached it.
struct TargetRow: Codable {
    /// The target's name in the list of targets.
    let id: String
    /// What is measured, and against what.
    let what: String
    let target: Limit
    let stretch: Limit?
    /// What was measured; `nil` where it could not be, and ``note`` says why.
    let figure: Spread?
    /// Whether the figure is a count, which is the same on every machine, and so a miss is a failure.
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

    /// A bound that a figure must keep.
    enum Limit: Codable {
        case atMost(Double)
        case below(Double)
        case atLeast(Double)

        /// Whether `value` keeps it.
        func holds(for value: Double) -> Bool {
            switch self {
            case .atMost(let bound): value <= bound
            case .below(let bound): value < bound
            case .atLeast(let bound): value >= bound
            }
        }

        /// The bound as one writes it.
        var description: String {
            switch self {
            case .atMost(let bound) where bound == 0: "0"
            case .atMost(let bound): "≤ \(NumberFormat.bound.text(bound))"
            case .below(let bound): "< \(NumberFormat.bound.text(bound))"
            case .atLeast(let bound): "≥ \(NumberFormat.bound.text(bound))"
            }
        }
    }

    /// What came of a target.
    enum Verdict: String {
        case stretch = "pass, stretch too"
        case pass
        case miss
        case unmeasured = "not measured"
    }

    /// Judges the median.
    var verdict: Verdict {
        guard let value = figure?.median else { return .unmeasured }
        if !target.holds(for: value) { return .miss }
        return stretch?.holds(for: value) == true ? .stretch : .pass
    }

    /// Whether this row makes the program fail: only a count can.
    var isFailure: Bool { isCount && (verdict == .miss || verdict == .unmeasured) }
}
