internal import CFaults

extension Faults {
    /// The number of threads that `getaddrinfo` holds, because they look up a name that ends in `.held.test`.
    ///
    /// A name that ends in `.found.test` has the address 127.0.0.1.
    public static var heldNames: Int { Int(faults_held_names()) }

    /// Lets all threads go on that `getaddrinfo` holds now; their names are not found.
    public static func releaseNames() { faults_release_names() }
}
