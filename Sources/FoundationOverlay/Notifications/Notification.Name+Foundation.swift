public import Foundation
public import Notifications

public import struct Notifications.Notification

/// A protocol for Foundation's type of notification name, `Foundation.NSNotification.Name`.
///
/// A Foundation name can be compared with a name of this package. The comparison operators are generic over this protocol for two
/// reasons. First, the compiler then takes an operand such as `.init("name")` as a name of this package. Second, the compiler does
/// not convert the operands to `AnyHashable`. After such a conversion, names of two different types would never be equal.
public protocol FoundationNotificationName: RawRepresentable<String> {}

extension Foundation.NSNotification.Name: FoundationNotificationName {}

/// Members that convert and compare Foundation names, such as `UserDefaults.didChangeNotification`.
extension Notification.Name {
    /// Converts a Foundation name to a name of this package, with the same string.
    ///
    /// - Parameter name: A Foundation name.
    public init(_ name: Foundation.NSNotification.Name) { self.init(rawValue: name.rawValue) }

    /// Compares a name of this package with a Foundation name.
    ///
    /// - Parameters:
    ///   - left: A name.
    ///   - right: A Foundation name.
    /// - Returns: True if both are the same string.
    public static func == (left: Notification.Name, right: some FoundationNotificationName) -> Bool {
        left.rawValue == right.rawValue
    }

    /// Compares a name of this package with a Foundation name.
    ///
    /// - Parameters:
    ///   - left: A name.
    ///   - right: A Foundation name.
    /// - Returns: True if the strings differ.
    public static func != (left: Notification.Name, right: some FoundationNotificationName) -> Bool {
        left.rawValue != right.rawValue
    }

    /// Compares a Foundation name with a name of this package.
    ///
    /// - Parameters:
    ///   - left: A Foundation name.
    ///   - right: A name.
    /// - Returns: True if both are the same string.
    public static func == (left: some FoundationNotificationName, right: Notification.Name) -> Bool {
        left.rawValue == right.rawValue
    }

    /// Compares a Foundation name with a name of this package.
    ///
    /// - Parameters:
    ///   - left: A Foundation name.
    ///   - right: A name.
    /// - Returns: True if the strings differ.
    public static func != (left: some FoundationNotificationName, right: Notification.Name) -> Bool {
        left.rawValue != right.rawValue
    }

    /// Matches a name against a Foundation name, so that a `switch` over names of this package can have cases with Foundation
    /// names.
    ///
    /// - Parameters:
    ///   - pattern: A Foundation name.
    ///   - value: The name to match.
    /// - Returns: True if both are the same string.
    public static func ~= (pattern: Foundation.NSNotification.Name, value: Notification.Name) -> Bool {
        pattern.rawValue == value.rawValue
    }
}

extension Foundation.NSNotification.Name {
    /// Converts a name of this package to Foundation's type, for members of Foundation that take a name.
    ///
    /// - Parameter name: A name.
    public init(_ name: Notification.Name) { self.init(rawValue: name.rawValue) }
}

extension Notification {
    /// Makes a notification with a Foundation name.
    ///
    /// To also reach the observers of Foundation's center, post with `NotificationCenter.default.post(name:object:userInfo:)`.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    @_disfavoredOverload
    public init(
        name: Foundation.NSNotification.Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil,
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.init(name: Name(name), object: object, userInfo: userInfo, fileID: fileID, line: line)
    }
}
