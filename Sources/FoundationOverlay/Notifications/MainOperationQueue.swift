/// The main operation queue, in a type of its own.
///
/// If an observer uses this queue, its handler is isolated to the main actor. The separate type tells the compiler so.
///
/// You never name this type: `.main` in `addObserver(forName:object:queue:using:)` refers to it.
///
/// > Thread safety: a value.
public struct MainOperationQueue: Sendable {
    /// The value that stands for the main operation queue.
    public static var main: MainOperationQueue { MainOperationQueue() }
}
