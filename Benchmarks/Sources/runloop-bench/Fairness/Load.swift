/// What keeps a loop busy.
enum Load: String, CaseIterable {
    case perform = "blocks that other threads perform"
    case port = "messages that other threads send"
    case own = "blocks that perform themselves again"

    /// The short form, for a chart.
    var name: String {
        switch self {
        case .perform: "perform from elsewhere"
        case .port: "port from elsewhere"
        case .own: "blocks, again and again"
        }
    }
}
