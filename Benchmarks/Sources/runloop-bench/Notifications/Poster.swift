/// One way to call observers at once, on the thread that posts.
protocol Poster: AnyObject, Sendable {
    /// Posts so many times; one call for many, so that calling through the protocol costs nothing.
    ///
    /// On one thread at a time.
    func post(_ count: Int)
}

/// The ways that are compared.
enum PostSubject: String, CaseIterable {
    case name = "RunLoops post"
    case message = "RunLoops typed message"
    case foundationName = "Foundation post"
    case foundationMessage = "Foundation typed message (‡)"

    /// Ours or theirs.
    var role: Chart.Role {
        switch self {
        case .name, .message: .ours
        case .foundationName, .foundationMessage: .peer
        }
    }

    /// What it is compared with.
    var yardstick: PostSubject {
        switch self {
        case .name, .foundationName: .foundationName
        case .message, .foundationMessage: .foundationMessage
        }
    }
}
