#pragma once

#include <stdbool.h>
#include <stdint.h>

/// True if the gate at an address is open. A gate is closed as long as its four bytes are 0.
bool runloops_gate_is_open(const uint32_t *gate);

/// Opens a gate for good, and wakes the threads that wait at it.
void runloops_gate_open(uint32_t *gate);

/// Waits at a gate until it is open, or for the given time, measured by a clock that stands still while the machine is suspended; a
/// negative time means without a limit. Returns true if the gate is open. The call is no cancellation point.
bool runloops_gate_wait(uint32_t *gate, int64_t nanoseconds);
