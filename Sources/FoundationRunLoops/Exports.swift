// Whole modules are exported first, then each name that Foundation has, too. A scoped export makes the unqualified name refer to
// its type.
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
