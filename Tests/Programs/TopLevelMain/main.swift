// A main.swift that awaits outside of functions, and is therefore an asynchronous main.

import RunLoops
import TestSupport

func performed() async throws -> String { try await RunLoop.main.performAndWait { here() } }

try RunLoop.adoptMain()
tell("before:", here())
try await Task.sleep(for: .milliseconds(1))
tell("after:", here())
tell("performed:", try await performed())
