/// Whose loops are made on threads that had none.
enum FootprintSubject: String, CaseIterable {
    case none = "a thread without a loop"
    case own = "RunLoops"
    case foundation = "Foundation"

    /// Makes the calling thread's loop, and lets it make one pass.
    func makeLoop() {
        switch self {
        case .none: break
        case .own: LoopMaking.make()
        case .foundation: FoundationLoopMaking.make()
        }
    }
}
