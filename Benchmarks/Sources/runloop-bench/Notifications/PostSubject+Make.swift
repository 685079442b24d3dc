extension PostSubject {
    /// Makes a center with so many observers that count in `calls`, and what posts to it.
    func make(observers: Int, calls: Calls) -> any Poster {
        switch self {
        case .name: NamePoster(name: "posted", observers: observers, calls: calls)
        case .message: MessagePoster(observers: observers, calls: calls)
        case .foundationName: FoundationNamePoster(name: "posted", observers: observers, calls: calls)
        case .foundationMessage: FoundationMessagePoster(observers: observers, calls: calls)
        }
    }
}
