#pragma once

#include <glib.h>

/// A source with a pointer of its owner's.
typedef struct {
    GSource source;
    gpointer tag;
    void *owner;
} glib_shim_source;
