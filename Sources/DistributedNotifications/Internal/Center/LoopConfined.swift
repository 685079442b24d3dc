/// A container that any thread may pass on, for an object that only the thread of one loop uses.
///
/// `@unchecked Sendable`: the value is read, changed and released in blocks of one loop only. If the loop ends before a block has
/// released the value, the value is released with the last reference to the container, when no other thread has a reference.
final class LoopConfined<Value: AnyObject>: @unchecked Sendable {
    var value: Value?
}
