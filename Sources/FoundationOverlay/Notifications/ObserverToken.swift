internal import Foundation
internal import Notifications

/// The token for an observation, as `addObserver(forName:object:queue:using:)` returns it.
///
/// Releasing the token does not end the observation: the center keeps the observation alive.
///
/// `@unchecked Sendable`: `NSObject` is not `Sendable`, and has no state here; the properties are constant.
final class ObserverToken: NSObject, @unchecked Sendable {
    private let observation: UnownedObservation

    init(_ observation: UnownedObservation) { self.observation = observation }

    /// Ends the observation: after this method has returned, no call of the handler starts.
    func remove() { observation.remove() }
}
