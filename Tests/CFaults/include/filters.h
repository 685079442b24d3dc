#pragma once

/// Installs a filter that refuses `membarrier` to all threads of the process from now on, with EPERM. Returns an errno, or 0.
int faults_refuse_membarrier(void);
