// The classes that nest in RunLoop, by the names that the rooms from here on use. They do not depend on the loop itself.

package typealias Observer = RunLoop.Observer
package typealias EndHandler = RunLoop.EndHandler
