#include "redis_load.h"

#ifdef BENCH_REDIS

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

struct bench_redis {
    redisContext *context;
};

bench_redis *bench_redis_connect(const char *path) {
    redisContext *context = redisConnectUnix(path);
    if (!context) return NULL;
    bench_redis *redis = calloc(1, sizeof *redis);
    if (context->err || !redis) {
        redisFree(context);
        free(redis);
        return NULL;
    }
    redis->context = context;
    return redis;
}

void bench_redis_close(bench_redis *redis) {
    redisFree(redis->context);
    free(redis);
}

/// Receives the reply to a command. Returns false if the reply is not the ID of an entry.
static bool receive(bench_redis *redis) {
    redisReply *reply = NULL;
    if (redisGetReply(redis->context, (void **)&reply) != REDIS_OK) return false;
    bool is_id = reply->type == REDIS_REPLY_STRING && memchr(reply->str, '-', (size_t)reply->len);
    freeReplyObject(reply);
    return is_id;
}

bool bench_redis_add(bench_redis *redis, int32_t count) {
    char payload[64] = {0};
    const char *words[] = {"XADD", "bench", "MAXLEN", "~", "100000", "*", "p", payload};
    const size_t lengths[] = {4, 5, 6, 1, 6, 1, 1, sizeof payload};
    int32_t sent = 0, received = 0;
    while (received < count) {
        while (sent < count && sent - received < 1024) {
            memcpy(payload, &sent, sizeof sent);
            if (redisAppendCommandArgv(redis->context, 8, words, lengths) != REDIS_OK) return false;
            sent++;
        }
        // Receives half of the replies before the next commands are appended, so that hiredis sends those commands together.
        for (int32_t half = sent - received > 512 ? 512 : sent - received; half > 0; half--) {
            if (!receive(redis)) return false;
            received++;
        }
    }
    return true;
}


#endif
