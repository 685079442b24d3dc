internal import CRunLoops

extension RunLoop {
    /// The name of a set of a loop's inputs, such as timers, sources and ports.
    ///
    /// A loop runs in one mode at a time, and serves only the inputs that were added to that mode. Inputs of other modes wait, and
    /// lose no event. A mode exists as soon as you use its name. The process keeps each name until its end, so use a few names again
    /// and again instead of a new one for each run.
    ///
    /// ```swift
    /// extension RunLoop.Mode { static let handshake = RunLoop.Mode("com.example.handshake") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// 0 for ``default``, 1 for ``common``, and otherwise the address of the name, which is a `runloops_name`.
        ///
        /// Two modes with one name have one number, which is compared and copied faster than a text.
        let number: UInt

        init(number: UInt) { self.number = number }

        /// Makes the mode with a name.
        ///
        /// - Parameter rawValue: The name. Two modes whose names have the same UTF-8 bytes are the same mode.
        public init(rawValue: String) {
            switch rawValue {
            case Mode.defaultName: self = .default
            case Mode.commonName: self = .common
            default:
                var name = rawValue
                // Safe: the function copies the bytes.
                number = name.withUTF8 { bytes in
                    unsafe bytes.withMemoryRebound(to: CChar.self) {
                        unsafe UInt(bitPattern: runloops_name($0.baseAddress, $0.count))
                    }
                }
            }
        }

        /// Makes the mode with a name.
        ///
        /// - Parameter rawValue: The name. Two modes whose names have the same UTF-8 bytes are the same mode.
        public init(_ rawValue: String) { self.init(rawValue: rawValue) }

        /// The name.
        ///
        /// The names of ``default`` and ``common`` are the same as in Foundation.
        public var rawValue: String {
            if self == .default { return Mode.defaultName }
            if self == .common { return Mode.commonName }
            // Safe: the number is the address of a name, which is neither changed nor freed.
            guard let name = unsafe UnsafePointer<runloops_name>(bitPattern: number) else {
                preconditionFailure("a name has an address")
            }
            let (start, count) = unsafe (runloops_name_bytes(name), name.pointee.length)
            return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }

        // Those of `RawRepresentable` would compare and hash the names. They belong to the conformance, and so are not listed apart.

        /// True if two modes have the same name.
        @_documentation(visibility: internal) @inline(__always)
        public static func == (left: Mode, right: Mode) -> Bool { left.number == right.number }

        /// Feeds the hasher with the number of the name.
        @_documentation(visibility: internal)
        public func hash(into hasher: inout Hasher) { hasher.combine(number) }

        // These are computed properties. A stored constant is initialized at its first use, and a child process that is forked at
        // that moment would hang when it reads the constant.
        private static var defaultName: String { "kCFRunLoopDefaultMode" }
        private static var commonName: String { "kCFRunLoopCommonModes" }

        /// The mode that a loop runs in if you pass no mode.
        public static var `default`: Mode { Mode(number: 0) }

        /// The set of a loop's common modes, which initially contains only ``default``.
        ///
        /// Each loop has its own set. An input that is added to the set is in every mode of the set, and in every mode that joins
        /// the set later with ``RunLoop/addCommonMode(_:)``. The set is not a mode: a loop cannot run in it.
        public static var common: Mode { Mode(number: 1) }
    }
}

extension RunLoop.Mode: CustomStringConvertible {
    /// The mode's name.
    public var description: String { rawValue }
}
