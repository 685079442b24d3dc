internal import RunLoops

extension Frame.Limits {
    /// Throws if the other end would not accept a message of this size.
    func check(_ body: RawSpan, _ descriptors: [CInt]) throws(MessagePortError) {
        if body.byteCount > Int(bodyLength) { throw .tooLarge(limit: Int(bodyLength)) }
        if descriptors.count > Int(descriptorCount) { throw .tooManyDescriptors(limit: Int(descriptorCount)) }
    }
}
