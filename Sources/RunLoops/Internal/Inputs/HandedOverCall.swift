/// A call that another thread has handed over to the loop, such as the removal of an input from a mode.
///
/// `@unchecked Sendable`: the closure is called and released by the loop, or released by the thread that made it if the loop has
/// ended.
final class HandedOverCall: HandOver, @unchecked Sendable {
    let link = HandOverLink()
    private let call: () -> Void

    /// - Parameter call: What is to be done on the thread of the loop.
    init(_ call: @escaping () -> Void) { self.call = call }

    func takeEffect() { call() }
}
