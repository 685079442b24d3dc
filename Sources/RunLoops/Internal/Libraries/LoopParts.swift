/// The parts of one loop that own its inputs, for an input that consists of others.
///
/// > Thread safety: the loop's own thread only.
protocol LoopParts: AnyObject {
    var handle: LoopHandle { get }
    var members: LoopMembers { get }
    var timers: LoopTimers { get }
    var descriptors: LoopDescriptors { get }
    var readyInputs: ReadyInputs { get }
}
