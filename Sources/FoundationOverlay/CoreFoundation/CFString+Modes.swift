public import CoreFoundation

// On Apple's platforms, a mode is a type of its own with these names; on Linux, it is a string.
extension CFString {
    /// The default mode, `kCFRunLoopDefaultMode`.
    public static var defaultMode: CFString { kCFRunLoopDefaultMode }

    /// The common modes, `kCFRunLoopCommonModes`.
    public static var commonModes: CFString { kCFRunLoopCommonModes }
}
