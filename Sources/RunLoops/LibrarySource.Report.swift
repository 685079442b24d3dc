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
        /// ``DescriptorSource/Readiness/error`` come in addition, or alone: many libraries want to be told that the descriptor
        /// is readable then.
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
