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

    /// Counts descriptors that an ``OwnedDescriptors`` holds from now on.
    ///
    /// - Parameter count: The number of descriptors.
    func receive(_ count: Int)

    /// Counts descriptors that were taken out of an ``OwnedDescriptors``.
    ///
    /// - Parameter count: The number of descriptors.
    func take(_ count: Int)

    /// Closes the descriptors of an ``OwnedDescriptors``, immediately or later.
    ///
    /// - Parameter descriptors: The descriptors, which the object has counted, and owns from now on.
    func close(counted descriptors: [CInt])
}
