#include "CFoundationLoops.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// These declarations match those of CoreFoundation's public headers for Linux.
typedef const void *Reference;
typedef struct {
    long version;
    void *info;
    const void *(*retain)(const void *);
    void (*release)(const void *);
    Reference (*copy_description)(const void *);
} ObserverContext;
typedef struct {
    long version;
    void *info;
    const void *(*retain)(const void *);
    void (*release)(const void *);
    Reference (*copy_description)(const void *);
    unsigned char (*equal)(const void *, const void *);
    unsigned long (*hash)(const void *);
    void *(*get_port)(void *);
    void (*perform)(void *);
} SourceContext;

extern const Reference kCFRunLoopDefaultMode;
extern const Reference kCFRunLoopCommonModes;
extern Reference CFRunLoopGetCurrent(void);
extern Reference CFRunLoopObserverCreate(
    Reference allocator, unsigned long activities, unsigned char repeats, long order,
    void (*callout)(Reference, unsigned long, void *), ObserverContext *context);
extern void CFRunLoopAddObserver(Reference loop, Reference observer, Reference mode);
extern void CFRunLoopObserverInvalidate(Reference observer);
extern Reference CFRunLoopSourceCreate(Reference allocator, long order, SourceContext *context);
extern void CFRunLoopAddSource(Reference loop, Reference source, Reference mode);
extern void CFRunLoopRemoveSource(Reference loop, Reference source, Reference mode);
extern void CFRunLoopSourceInvalidate(Reference source);
extern void CFRunLoopWakeUp(Reference loop);
extern Reference CFRunLoopCopyCurrentMode(Reference loop);
extern int CFRunLoopRunInMode(Reference mode, double seconds, unsigned char return_after_source);
extern void CFRelease(Reference object);
// Not in the public headers, so a version of CoreFoundation without it is possible.
extern Reference _CFRunLoopGet0(pthread_t thread) __attribute__((weak));

struct runloops_foundation_link {
    void (*observer)(void *, unsigned long);
    void *info;
    Reference loop;
    Reference cf_observer;
    Reference source;
    // A source without work: a run goes on even if its mode has no other inputs.
    Reference anchor;
    int descriptor;
};

static void did_observe(Reference observer, unsigned long activity, void *info) {
    (void)observer;
    runloops_foundation_link *link = info;
    link->observer(link->info, activity);
}

static void *get_port(void *info) { return (void *)(intptr_t)((runloops_foundation_link *)info)->descriptor; }

static void perform_nothing(void *info) { (void)info; }

static void perform(void *info) {
    runloops_foundation_link *link = info;
    link->observer(link->info, 0);
}

runloops_foundation_link *runloops_foundation_observe(
    int descriptor, void (*observer)(void *, unsigned long), void *info) {
    runloops_foundation_link *link = malloc(sizeof *link);
    if (!link) return NULL;
    ObserverContext observer_context = {.info = link};
    SourceContext source_context = {.version = 1, .info = link, .get_port = get_port, .perform = perform};
    unsigned long activities = RUNLOOPS_FOUNDATION_ENTRY | RUNLOOPS_FOUNDATION_BEFORE_SOURCES
        | RUNLOOPS_FOUNDATION_BEFORE_WAITING | RUNLOOPS_FOUNDATION_EXIT;
    *link = (runloops_foundation_link){
        .observer = observer, .info = info, .loop = CFRunLoopGetCurrent(), .descriptor = descriptor};
    link->cf_observer = CFRunLoopObserverCreate(NULL, activities, 1, 0, did_observe, &observer_context);
    link->source = CFRunLoopSourceCreate(NULL, 0, &source_context);
    // A context of version 0 is longer by one member, its function.
    struct {
        SourceContext context;
        void (*perform)(void *);
    } anchor_context = {.perform = perform_nothing};
    link->anchor = CFRunLoopSourceCreate(NULL, 0, &anchor_context.context);
    CFRunLoopAddObserver(link->loop, link->cf_observer, kCFRunLoopCommonModes);
    CFRunLoopAddSource(link->loop, link->anchor, kCFRunLoopCommonModes);
    return link;
}

void runloops_foundation_watch(runloops_foundation_link *link, bool watches) {
    if (watches) {
        CFRunLoopAddSource(link->loop, link->source, kCFRunLoopCommonModes);
    } else {
        CFRunLoopRemoveSource(link->loop, link->source, kCFRunLoopCommonModes);
    }
}

void runloops_foundation_wake(runloops_foundation_link *link) { CFRunLoopWakeUp(link->loop); }

bool runloops_foundation_poll(void) { return CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, 1) == 4; }

bool runloops_foundation_runs(void) {
    Reference mode = CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent());
    if (mode) CFRelease(mode);
    return mode != NULL;
}

void runloops_foundation_end(runloops_foundation_link *link) {
    CFRunLoopObserverInvalidate(link->cf_observer);
    CFRunLoopSourceInvalidate(link->source);
    CFRunLoopSourceInvalidate(link->anchor);
    CFRelease(link->cf_observer);
    CFRelease(link->source);
    CFRelease(link->anchor);
    free(link);
}

const void *runloops_foundation_loop(uintptr_t thread) {
    return _CFRunLoopGet0 ? _CFRunLoopGet0((pthread_t)thread) : NULL;
}
