/// An object that closes descriptors in place of their owners.
///
/// This is for descriptors that must not be closed on the thread that destroys their owner, such as descriptors that another
/// process has sent.
///
/// > Thread safety: any thread.
package protocol DescriptorClosing: AnyObject, Sendable {
    /// Closes a descriptor, immediately or later.
    ///
    /// - Parameter descriptor: The descriptor, which the object owns from now on.
    func close(_ descriptor: CInt)
}
