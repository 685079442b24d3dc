// The values that nest in RunLoop, by the names that the rooms use. Whoever names one of them does not depend on the loop itself.

package typealias Mode = RunLoop.Mode
package typealias HandlerKind = RunLoop.HandlerKind
package typealias Activity = RunLoop.Activity
