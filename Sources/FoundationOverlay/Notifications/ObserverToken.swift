internal import Foundation
internal import Notifications

/// The object that stands for an observation in Foundation's interface.
///
/// Releasing it does not end the observation, which belongs to its center.
///
/// `@unchecked Sendable`: `NSObject` is not `Sendable`, and has no state here; the properties are constant.
final class ObserverToken: NSObject, @unchecked Sendable {
    private let observation: UnownedObservation

    init(_ observation: UnownedObservation) { self.observation = observation }

    /// Ends the observation, so that no call of its handler starts after this has returned.
    func remove() { observation.remove() }
}
