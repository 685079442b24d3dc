#include "inflate_shim.h"

#include <stdlib.h>
#include <zlib.h>

enum place {
    /// No byte has arrived.
    before,
    /// The first byte of a `deflate` body has arrived, and decides its form only together with the second one.
    sniffing,
    inside,
    /// A part is complete. Another one may follow with `gzip`.
    between,
};

struct runloops_inflater {
    z_stream stream;
    enum runloops_coding coding;
    enum place place;
    unsigned char first;
    /// True if the last step has filled its room, so that zlib can hold back output.
    bool is_full;
};

/// zlib's window, and the forms of its input: 15 for zlib's own, 31 for gzip, -15 for bare deflate.
enum { zlib_window = 15, gzip_window = 31, bare_window = -15 };

struct runloops_inflater *runloops_inflater_new(enum runloops_coding coding) {
    struct runloops_inflater *inflater = calloc(1, sizeof *inflater);
    if (inflater == NULL) return NULL;
    inflater->coding = coding;
    if (inflateInit2(&inflater->stream, coding == runloops_gzip ? gzip_window : zlib_window) == Z_OK) return inflater;
    free(inflater);
    return NULL;
}

void runloops_inflater_free(struct runloops_inflater *inflater) {
    inflateEnd(&inflater->stream);
    free(inflater);
}

/// Servers send `deflate` in two forms: zlib's, as the standard says, and bare. The first two bytes tell them apart.
static bool is_bare(unsigned char first, unsigned char second) {
    bool is_zlib = (first & 0x0f) == Z_DEFLATED && first >> 4 <= 7 && (first << 8 | second) % 31 == 0;
    return !is_zlib;
}

/// Lets zlib work on the input and the room of the stream.
static enum runloops_inflating step(struct runloops_inflater *inflater) {
    switch (inflate(&inflater->stream, Z_NO_FLUSH)) {
    case Z_STREAM_END: inflater->place = between; return runloops_inflated;
    case Z_OK:
    case Z_BUF_ERROR: return runloops_inflated;
    case Z_MEM_ERROR: return runloops_inflate_no_memory;
    default: return runloops_not_inflatable;
    }
}

/// Takes the first bytes of a body or of a part. Returns false if they cannot belong to it.
static bool begin(struct runloops_inflater *inflater) {
    z_stream *stream = &inflater->stream;
    if (inflater->coding == runloops_gzip) {
        // Go, curl's command and the browsers read all parts of a body; see RFC 1952, 2.2.
        if (inflater->place == between && inflateReset(stream) != Z_OK) return false;
        inflater->place = inside;
        return true;
    }
    switch (inflater->place) {
    case before:
        inflater->first = *stream->next_in;
        stream->next_in += 1, stream->avail_in -= 1;
        inflater->place = sniffing;
        return true;
    case sniffing: {
        if (is_bare(inflater->first, *stream->next_in) && inflateReset2(stream, bare_window) != Z_OK) return false;
        // zlib gets the byte that was held back. It writes nothing before it has seen more.
        z_const Bytef *next = stream->next_in;
        uInt count = stream->avail_in;
        stream->next_in = &inflater->first, stream->avail_in = 1;
        inflater->place = inside;
        enum runloops_inflating result = step(inflater);
        stream->next_in = next, stream->avail_in = count;
        return result == runloops_inflated;
    }
    // Nothing may follow the only part of a body.
    default: return false;
    }
}

enum runloops_inflating runloops_inflate(
    struct runloops_inflater *inflater, const void *bytes, size_t *count, void *room, size_t *capacity) {
    z_stream *stream = &inflater->stream;
    stream->next_in = (z_const Bytef *)bytes, stream->avail_in = (uInt)*count;
    stream->next_out = room, stream->avail_out = (uInt)*capacity;
    enum runloops_inflating result = runloops_inflated;
    while (result == runloops_inflated && stream->avail_out > 0 && (stream->avail_in > 0 || inflater->is_full)) {
        if (inflater->place != inside && !begin(inflater)) result = runloops_not_inflatable;
        if (inflater->place != inside || result != runloops_inflated) continue;
        inflater->is_full = false;
        result = step(inflater);
        inflater->is_full = stream->avail_out == 0 && inflater->place == inside;
    }
    *count -= stream->avail_in;
    *capacity -= stream->avail_out;
    stream->next_in = NULL, stream->next_out = NULL;
    return result;
}

bool runloops_inflater_is_full(const struct runloops_inflater *inflater) { return inflater->is_full; }

bool runloops_inflater_is_whole(const struct runloops_inflater *inflater) {
    return inflater->place == before || inflater->place == between;
}
