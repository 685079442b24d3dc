internal import RunLoops

extension ExponentialBackoff {
    /// The time for which the loop stops watching a listener, after the process had no free descriptor for a connection.
    ///
    /// A listener stays readable while a connection waits, so a loop that kept watching the listener would spin. The pause costs
    /// the client nothing: the kernel queues its connection and its packets. Releasing a spare descriptor to accept and close the
    /// connection would turn honest clients away instead.
    static var accepting: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(10), to: .seconds(1)) }

    /// The pause between two attempts to send while the kernel is out of resources.
    static var sending: ExponentialBackoff {
        ExponentialBackoff(from: .microseconds(100), to: .milliseconds(20))
    }

    /// The pause before the next attempt to read a connection that is held back.
    ///
    /// The loop holds back a connection if the next packet carries descriptors, and the process has reached its limit of received
    /// descriptors.
    static var holdingBack: ExponentialBackoff {
        ExponentialBackoff(from: .milliseconds(1), to: .milliseconds(100))
    }

    /// The pause between two attempts to send the packets of a backlog while the kernel is out of resources.
    static var resending: ExponentialBackoff { ExponentialBackoff(from: .milliseconds(1), to: .seconds(1)) }
}
