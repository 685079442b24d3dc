extension RunLoop.Mode {
    /// True for ``common``.
    ///
    /// Most modes are ``default``, whose name has the same length. Finding out that the names differ takes longer than finding out
    /// that they are the same constant.
    var isCommon: Bool { @inline(__always) get { self != .default && self == .common } }
}
