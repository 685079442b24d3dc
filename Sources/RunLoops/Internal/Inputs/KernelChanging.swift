/// An input that delays its changes of the kernel's set of descriptors until the loop is about to poll the kernel.
///
/// > Thread safety: the loop's own thread only.
protocol KernelChanging: AnyObject {
    /// Makes the delayed changes in the kernel's set.
    ///
    /// This calls no user code.
    func makeChange(in list: LoopDescriptors)
}

extension DescriptorSource: KernelChanging {}
