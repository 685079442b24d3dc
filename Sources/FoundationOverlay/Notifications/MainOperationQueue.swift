/// The main queue as the queue of an observer, whose handler is then isolated to the main actor.
///
/// It is never named: `.main` in `addObserver(forName:object:queue:using:)` means it.
///
/// > Thread safety: a value.
public struct MainOperationQueue: Sendable {
    /// The main queue.
    public static var main: MainOperationQueue { MainOperationQueue() }
}
