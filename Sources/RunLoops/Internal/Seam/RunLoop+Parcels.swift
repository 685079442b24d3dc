extension RunLoop {
    /// Sends a value to the loop, to be handled on its thread in one of several modes.
    ///
    /// The same as ``perform(inModes:fileID:line:_:)``, for modules of this package that send many values.
    ///
    /// - Parameters:
    ///   - value: The value, of at most 96 bytes.
    ///   - modes: The modes; nil for the common ones.
    ///   - handle: Called once with the place of the value, from which it takes the value: with true on the loop's thread; with
    ///     false by the thread that releases it, because the loop has ended.
    /// - Returns: False if the loop's thread has ended: then the value was released.
    @inlinable @inline(__always)
    package func send<Value: Sendable & ~Copyable>(
        _ value: consuming Value, inModes modes: [Mode]?,
        _ handle: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) -> Bool {
        precondition(
            MemoryLayout<Value>.size <= Parcel.valueCapacity && MemoryLayout<Value>.alignment <= 16,
            "a parcel holds values of at most 96 bytes")
        let node = unsafe Node.makeParcel(modes, handle)
        // Safe: the room behind the head belongs to the value, is large enough for it, and no other thread has the node yet.
        unsafe (node.address + Parcel.valueOffset).initializeMemory(as: Value.self, to: value)
        return post(parcel: node)
    }

    @usableFromInline
    func post(parcel node: Node) -> Bool {
        if putInLine(node) { return true }
        var releaser = NodeReleaser()
        node.endParcel(hasArrived: false, &releaser)
        return false
    }
}
