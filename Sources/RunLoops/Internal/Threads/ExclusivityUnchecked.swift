/// A value that one thread at a time touches, without the run-time checks that a class pays for its properties.
///
/// Swift checks each change of a class's property for another access that is still going on, some 7 ns that a
/// message would pay several times. Here it is by construction: what is kept in one of these is changed by
/// short operations that call no handler.
///
/// `@safe`: the memory is the owner's from `init` to `deinit`, and the owner says which thread may touch it.
@safe
package struct ExclusivityUnchecked<Value: ~Copyable>: ~Copyable {
    @usableFromInline package let storage: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming Value) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: value)
    }

    @inlinable
    deinit {
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    @inlinable
    package var value: Value {
        @inline(__always)
        _read { yield unsafe storage.pointee }
        @inline(__always)
        nonmutating _modify { yield unsafe &storage.pointee }
    }
}
