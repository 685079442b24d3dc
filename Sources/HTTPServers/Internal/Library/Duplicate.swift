internal import RunLoops

/// Duplicates a descriptor of libmicrohttpd.
func duplicate(_ descriptor: CInt) throws(SystemError) -> OwnedDescriptor {
    // This only borrows the descriptor, which libmicrohttpd closes.
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
