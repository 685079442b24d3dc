/// An input with changes that the kernel gets before the loop next asks it for what is ready.
///
/// > Thread safety: the loop's own thread only.
protocol KernelChanging: AnyObject {
    /// Makes the changes that were noted.
    ///
    /// It calls no user code.
    func makeChange(in list: LoopDescriptors)
}

extension DescriptorSource: KernelChanging {}
