#pragma once

#include <stdbool.h>
#include <stdint.h>

// The least that a post to a stream of Redis costs: XADD, many under way at once, with hiredis alone. Empty without the trait
// Redis.

/// A connection to a server. One thread.
typedef struct bench_redis bench_redis;

/// Connects to a server at a Unix domain socket; NULL if it does not answer.
bench_redis *bench_redis_connect(const char *path);
void bench_redis_close(bench_redis *redis);

/// Adds this many entries with 64 bytes to a stream, of which up to 1,024 are under way at once. Returns false if one is refused.
bool bench_redis_add(bench_redis *redis, int32_t count);
