extension LibrarySource {
    /// A report that one of the library's descriptors is ready.
    ///
    /// > Thread safety: a value.
    public struct Report: Hashable, Sendable {
        /// The descriptor.
        public let descriptor: CInt

        /// The operations that the descriptor is ready for, as the kernel reported them in this pass.
        ///
        /// Reading and writing are reported only if the descriptor is watched for them. ``DescriptorSource/Readiness/hangUp`` and
        /// ``DescriptorSource/Readiness/error`` can be reported in addition, or alone. If one of these two is reported, many
        /// libraries expect a call that says that the descriptor is readable.
        public let readiness: DescriptorSource.Readiness

        init(descriptor: CInt, readiness: DescriptorSource.Readiness) {
            self.descriptor = descriptor
            self.readiness = readiness
        }
    }
}

extension LibrarySource.Report: CustomStringConvertible {
    /// The descriptor and its readiness.
    public var description: String { "\(descriptor) \(readiness)" }
}
