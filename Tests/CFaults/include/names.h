#pragma once

// Names that end in `.found.test` have the address 127.0.0.1.

/// The number of threads that `getaddrinfo` holds, because they look for a name that ends in `.held.test`.
unsigned faults_held_names(void);

/// Lets all of them go on; the names are not found.
void faults_release_names(void);
