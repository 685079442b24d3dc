/// What a timer's loop is doing meanwhile.
enum Situation: Hashable {
    /// Nothing.
    case rest
    /// What keeps it busy.
    case busy(Load)
    /// It is not a loop, but a thread that watches the clock.
    case thread

    static let all: [Situation] = [.thread, .rest] + Load.allCases.map { .busy($0) }

    /// What a table says.
    var description: String {
        switch self {
        case .rest: "at rest"
        case .busy(let load): load.rawValue
        case .thread: "no loop: a thread that only reads the clock"
        }
    }

    /// What a chart says.
    var name: String {
        switch self {
        case .rest: "at rest"
        case .busy(let load): load.name
        case .thread: "only reads the clock"
        }
    }
}
