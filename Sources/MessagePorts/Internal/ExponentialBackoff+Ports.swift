internal import RunLoops

extension ExponentialBackoff {
    /// The pause before the loop watches a listener again after the process was out of descriptors for a connection.
    ///
    /// A listener with a waiting connection stays readable, so a loop that kept watching the listener would spin. The pause costs
    /// the client nothing: the kernel queues its connection and its packets. Releasing a spare descriptor to accept and close the
    /// connection would turn honest clients away instead.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two attempts to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause before the loop tries again to read a connection that it has held back.
    ///
    /// A connection is held back if its next packet carries descriptors, and the process has reached its limit of
    /// received descriptors.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two attempts to send the packets of a backlog while the kernel is out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
