extension RunLoop {
    /// Sends a value to the loop, which passes it to a function on the loop's thread, in one of several modes.
    ///
    /// This does the same as ``perform(inModes:fileID:line:_:)``, for modules of this package that send many values.
    ///
    /// - Parameters:
    ///   - value: The value, of at most 96 bytes.
    ///   - modes: The modes; nil for the common modes.
    ///   - handle: A function that handles the value, and is called exactly once. The first argument is the address of the value,
    ///     and the function moves the value out of that address. If the loop serves the value, the function is called on the
    ///     loop's thread, and the second argument is true. If the loop has ended, the function is called on the thread that
    ///     releases the value, and the second argument is false.
    /// - Returns: False if the loop's thread has ended. In that case the value was released.
    @inlinable @inline(__always)
    package func send<Value: Sendable & ~Copyable>(
        _ value: consuming Value, inModes modes: [Mode]?,
        _ handle: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) -> Bool {
        precondition(
            MemoryLayout<Value>.size <= Parcel.valueCapacity && MemoryLayout<Value>.alignment <= 16,
            "a parcel holds values of at most 96 bytes")
        let node = unsafe Node.makeParcel(modes, handle)
        // Safe: the memory behind the head belongs to the value and is large enough, and no other thread has the node yet.
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
