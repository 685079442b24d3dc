/// Closes descriptors in place of their owners.
///
/// This is for descriptors that the thread that destroys their owner must not close, such as descriptors that another process has
/// sent.
///
/// > Thread safety: any thread.
package protocol DescriptorClosing: AnyObject, Sendable {
    /// Closes a descriptor, immediately or later.
    ///
    /// - Parameter descriptor: The descriptor, which the object owns from now on.
    func close(_ descriptor: CInt)
}
