internal import CLibEvent
internal import Glibc

/// A thread of the library's own that ends by itself, and that no other thread joins.
package enum DetachedThread {
    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - stackSize: The size of its stack in bytes.
    ///   - main: The function that it runs, which is given nothing.
    /// - Returns: False if the kernel refuses.
    package static func start(
        stackSize: Int, _ main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    ) -> Bool {
        var attributes = pthread_attr_t()
        var thread = pthread_t()
        // Safe, this and the next calls: the attributes are our own, set up before they are used.
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        return unsafe pthread_create(&thread, &attributes, main, nil) == 0
    }
}
