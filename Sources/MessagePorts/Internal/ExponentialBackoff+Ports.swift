internal import RunLoops

extension ExponentialBackoff {
    /// The pause between a failed attempt to accept a connection and the next attempt.
    ///
    /// Usually the attempt has failed because no descriptor is free. A listener stays readable while a connection waits, so without
    /// a pause the loop would spin. The client loses nothing by the pause, because the kernel queues the connection and the
    /// client's packets. A loop could instead release a spare descriptor, accept the connection and close it, but that would turn
    /// honest clients away.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two attempts to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause before the next attempt to read a connection that is held back.
    ///
    /// While a port holds back a connection, it does not read from the connection. A port does this if the connection's next packet
    /// carries more descriptors than the port may receive now: see ``DescriptorQuota``.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two attempts to send the packets of a ``PacketBacklog`` while the kernel is out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
