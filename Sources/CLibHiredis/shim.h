#pragma once

// First, so that files that import Glibc before this module agree with it about fd_set.
#include <sys/select.h>

#include <hiredis/hiredis.h>
