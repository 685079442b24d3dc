internal import RunLoops

extension Frame.Limits {
    /// Throws if a message is larger than these limits, which the other end has stated.
    func check(_ body: RawSpan, _ descriptors: [CInt]) throws(MessagePortError) {
        if body.byteCount > Int(bodyLength) { throw .tooLarge(limit: Int(bodyLength)) }
        if descriptors.count > Int(descriptorCount) { throw .tooManyDescriptors(limit: Int(descriptorCount)) }
    }
}
