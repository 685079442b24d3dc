internal import RunLoops

/// Duplicates a descriptor of libmicrohttpd.
func duplicate(_ descriptor: CInt) throws(SystemError) -> OwnedDescriptor {
    // Borrowed: libmicrohttpd closes the descriptor.
    let borrowed = OwnedDescriptor(descriptor)
    do {
        let second = try borrowed.duplicate()
        _ = borrowed.release()
        return second
    } catch {
        _ = borrowed.release()
        throw error
    }
}
