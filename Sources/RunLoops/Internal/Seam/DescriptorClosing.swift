/// Closes descriptors in place of their owners.
///
/// It serves descriptors that must not be closed by the thread that destroys their owner, such as those that another process
/// has sent.
///
/// > Thread safety: any thread.
package protocol DescriptorClosing: AnyObject, Sendable {
    /// Closes a descriptor, at once or later.
    ///
    /// - Parameter descriptor: The descriptor, which the object owns from now on.
    func close(_ descriptor: CInt)
}
