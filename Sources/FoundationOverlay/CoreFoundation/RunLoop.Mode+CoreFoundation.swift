internal import CoreFoundation
internal import Foundation
internal import RunLoops

internal import class RunLoops.RunLoop

extension RunLoop.Mode {
    /// Makes the mode with CoreFoundation's name; nil if there is no name.
    init?(_ name: CFRunLoopMode?) {
        guard let text = name as AnyObject? as? NSString else { return nil }
        self.init(text)
    }

    private init(_ text: NSString) {
        let text = String(describing: text)
        switch text {
        case "kCFRunLoopDefaultMode": self = .default
        case "kCFRunLoopCommonModes": self = .common
        default: self.init(rawValue: text)
        }
    }

    /// The modes that a string, or an array of strings, names.
    static func list(_ names: AnyObject?) -> [RunLoop.Mode] {
        if let name = names as? NSString { return [RunLoop.Mode(name)] }
        return (names as? NSArray)?.compactMap { ($0 as? String).map { RunLoop.Mode(NSString(string: $0)) } }
            ?? []
    }

    /// CoreFoundation's name of the mode.
    var name: CFRunLoopMode {
        switch self {
        case .default: kCFRunLoopDefaultMode
        case .common: kCFRunLoopCommonModes
        // Safe: an `NSString` is a `CFString`, to which Swift on Linux does not convert it.
        default: unsafe unsafeBitCast(NSString(string: rawValue), to: CFString.self)
        }
    }
}
