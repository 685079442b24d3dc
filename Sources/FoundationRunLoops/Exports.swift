// The first exports are of whole modules. The others are of single types whose names Foundation also has. Such a scoped export
// makes the unqualified name, for example `Timer`, refer to the type that it exports.
@_exported public import FoundationOverlay
@_exported public import Notifications
@_exported public import RunLoops

@_exported public import typealias FoundationOverlay.NSNotification
@_exported public import class FoundationOverlay.Port
@_exported public import struct Notifications.Notification
@_exported public import class Notifications.NotificationCenter
@_exported public import class Notifications.NotificationQueue
@_exported public import class RunLoops.RunLoop
@_exported public import class RunLoops.Timer
