/// A container for an object that only the thread of one loop uses.
///
/// Every thread can hold the container and pass it on.
///
/// `@unchecked Sendable`: the value is read, changed and released in blocks of one loop only. If the loop ends before a block has
/// released the value, the last reference to the container releases it. At that time, no other thread has a reference.
final class LoopConfined<Value: AnyObject>: @unchecked Sendable {
    var value: Value?
}
