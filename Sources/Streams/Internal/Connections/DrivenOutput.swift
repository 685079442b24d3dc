/// The descriptor to which the driver of a connection sends.
package struct DrivenOutput: Sendable {
    package let descriptor: CInt
    /// False for a pipe, a terminal and the like, to which bytes are written.
    package let isSocket: Bool

    package init(descriptor: CInt, isSocket: Bool) {
        self.descriptor = descriptor
        self.isSocket = isSocket
    }
}
