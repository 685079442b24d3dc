/// An input whose changes are passed to the kernel before the loop next polls the kernel.
///
/// > Thread safety: the loop's own thread only.
protocol KernelChanging: AnyObject {
    /// Makes the recorded changes in the kernel's set.
    ///
    /// This calls no user code.
    func makeChange(in list: LoopDescriptors)
}

extension DescriptorSource: KernelChanging {}
