/// An input that changes the set of descriptors that the kernel watches.
///
/// Each change is delayed until the loop is about to poll the kernel.
///
/// > Thread safety: the loop's own thread only.
protocol KernelChanging: AnyObject {
    /// Makes this input's delayed changes to the set of descriptors that the kernel watches.
    ///
    /// This calls no user code.
    func makeChange(in list: LoopDescriptors)
}

extension DescriptorSource: KernelChanging {}
