// Programs whose main thread runs its loop, for the tests of the main loop. The argument names the program.

import Glibc
import RunLoops

let programs: [String: @MainActor () throws -> Void] = [
    "documented": documentedMain, "documented difference": documentedDifference, "hidden": Hidden.run,
    "ways": { try Ways.run() },
    "order": Serving.order, "nested": Serving.nested, "inside a handler": Serving.insideHandler,
    "modes": Serving.modes, "handled": Serving.handled, "ends": Serving.ends, "polled": Serving.polled,
    "another's": Serving.madeElsewhere,
    "timed": Serving.timed, "recorded": Serving.recorded,
    "busy blocks": Load.busyBlocks, "busy queue": Load.busyQueue, "counts": Load.counts, "many": Load.many,
    "one at a time": Load.oneAtATime,
    "spinning": Load.spinning,
    "thread and queue": ThreadAndQueue.run,
    "given away": GivenAway.madeElsewhere, "given away with work": GivenAway.withWork,
    "given away first": GivenAway.beforeAnybodyAsked, "run when given away": GivenAway.run,
    "hangs": { RunLoop.main.run() },
    "adopted in vain": GivenAway.adoptedInVain, "adopted elsewhere": GivenAway.adoptedElsewhere,
    "taken": Hidden.taken, "simulated": simulatedMain, "Foundation": BesideFoundation.run,
]

guard let program = programs[CommandLine.arguments.last ?? ""] else {
    print("no such program")
    exit(64)
}
try program()
