/// An object that only the thread of one loop touches, in a value that every thread may pass on.
///
/// `@unchecked Sendable`: the value is read, changed and released in blocks of one loop only. If the loop has ended before, it is
/// released with the last reference, when no other thread has one.
final class LoopConfined<Value: AnyObject>: @unchecked Sendable {
    var value: Value?
}
