/// The main operation queue, as a type of its own: the handler of an observer that uses it is isolated to the main actor.
///
/// You never name this type: `.main` in `addObserver(forName:object:queue:using:)` refers to it.
///
/// > Thread safety: a value.
public struct MainOperationQueue: Sendable {
    /// The value that stands for the main operation queue.
    public static var main: MainOperationQueue { MainOperationQueue() }
}
