// The first exports are of whole modules. The others are of single types whose names Foundation also has. Such a scoped export
// makes the unqualified name, for example `Timer`, refer to the type that it exports. A function hides CoreFoundation's function of
// the same signature.
@_exported public import FoundationOverlay
@_exported public import Notifications
@_exported public import RunLoops

@_exported public import func FoundationOverlay.CFRunLoopAddCommonMode
@_exported public import func FoundationOverlay.CFRunLoopAddObserver
@_exported public import func FoundationOverlay.CFRunLoopAddSource
@_exported public import func FoundationOverlay.CFRunLoopAddTimer
@_exported public import func FoundationOverlay.CFRunLoopContainsObserver
@_exported public import func FoundationOverlay.CFRunLoopContainsSource
@_exported public import func FoundationOverlay.CFRunLoopContainsTimer
@_exported public import func FoundationOverlay.CFRunLoopCopyAllModes
@_exported public import func FoundationOverlay.CFRunLoopCopyCurrentMode
@_exported public import func FoundationOverlay.CFRunLoopGetCurrent
@_exported public import func FoundationOverlay.CFRunLoopGetMain
@_exported public import func FoundationOverlay.CFRunLoopGetNextTimerFireDate
@_exported public import func FoundationOverlay.CFRunLoopIsWaiting
@_exported public import func FoundationOverlay.CFRunLoopObserverCreate
@_exported public import func FoundationOverlay.CFRunLoopObserverCreateWithHandler
@_exported public import func FoundationOverlay.CFRunLoopObserverGetContext
@_exported public import func FoundationOverlay.CFRunLoopObserverInvalidate
@_exported public import func FoundationOverlay.CFRunLoopPerformBlock
@_exported public import func FoundationOverlay.CFRunLoopRemoveObserver
@_exported public import func FoundationOverlay.CFRunLoopRemoveSource
@_exported public import func FoundationOverlay.CFRunLoopRemoveTimer
@_exported public import func FoundationOverlay.CFRunLoopRun
@_exported public import func FoundationOverlay.CFRunLoopRunInMode
@_exported public import func FoundationOverlay.CFRunLoopSourceCreate
@_exported public import func FoundationOverlay.CFRunLoopSourceGetContext
@_exported public import func FoundationOverlay.CFRunLoopSourceInvalidate
@_exported public import func FoundationOverlay.CFRunLoopSourceSignal
@_exported public import func FoundationOverlay.CFRunLoopStop
@_exported public import func FoundationOverlay.CFRunLoopTimerCreate
@_exported public import func FoundationOverlay.CFRunLoopTimerCreateWithHandler
@_exported public import func FoundationOverlay.CFRunLoopTimerGetContext
@_exported public import func FoundationOverlay.CFRunLoopTimerGetNextFireDate
@_exported public import func FoundationOverlay.CFRunLoopTimerGetTolerance
@_exported public import func FoundationOverlay.CFRunLoopTimerInvalidate
@_exported public import func FoundationOverlay.CFRunLoopTimerSetNextFireDate
@_exported public import func FoundationOverlay.CFRunLoopTimerSetTolerance
@_exported public import func FoundationOverlay.CFRunLoopWakeUp
@_exported public import typealias FoundationOverlay.NSNotification
@_exported public import class FoundationOverlay.Port
@_exported public import struct Notifications.Notification
@_exported public import class Notifications.NotificationCenter
@_exported public import class Notifications.NotificationQueue
@_exported public import class RunLoops.RunLoop
@_exported public import class RunLoops.Timer
