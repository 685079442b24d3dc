public import Streams

extension Listener {
    /// Makes a listener on the socket that the service manager has opened for this process, or else at an address.
    ///
    /// The listener logs when it does not accept for a moment.
    ///
    /// - Parameters:
    ///   - address: The address without socket activation.
    ///   - options: The settings and limits.
    /// - Returns: The listener.
    /// - Throws: ``ServiceManager/Mismatch``, or `SystemError` if the kernel refuses.
    public static func ofService(or address: Address, options: Options = Options()) throws -> Listener {
        let listener =
            switch try ServiceManager.takeSocket() {
            case .some(let socket): try Listener(socket, options: options)
            case nil: try Listener(address, options: options)
            }
        listener.onPause { _, error in log("nobody is accepted for a moment: \(error)") }
        return listener
    }
}
