internal import RunLoops

/// Duplicates a descriptor that libmicrohttpd owns.
func duplicate(_ descriptor: CInt) throws(SystemError) -> OwnedDescriptor {
    // This object only borrows the descriptor, which libmicrohttpd closes.
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
