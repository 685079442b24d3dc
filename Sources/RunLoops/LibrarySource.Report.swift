extension LibrarySource {
    /// A descriptor of a library that is ready.
    ///
    /// > Thread safety: a value.
    public struct Report: Hashable, Sendable {
        /// The descriptor.
        public let descriptor: CInt

        /// The operations that it is ready for, as the kernel said in this pass.
        ///
        /// Of reading and writing, only what the descriptor is watched for. ``DescriptorSource/Readiness/hangUp`` and
        /// ``DescriptorSource/Readiness/error`` may be reported in addition, or alone. For these, many libraries expect a call
        /// that says that the descriptor is readable.
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
