#pragma once

#include <stdbool.h>
#include <stdint.h>

// The lower bound for the cost of a post to a Redis stream: XADD with hiredis alone, with many commands under way. Without the
// trait Redis, redis_load.c is empty.

/// A connection to a server. Not thread-safe.
typedef struct bench_redis bench_redis;

/// Connects to a server through a Unix domain socket. Returns NULL if the connection fails.
bench_redis *bench_redis_connect(const char *path);
void bench_redis_close(bench_redis *redis);

/// Adds `count` entries of 64 bytes to a stream, with up to 1,024 commands under way. Returns false if a command fails.
bool bench_redis_add(bench_redis *redis, int32_t count);
