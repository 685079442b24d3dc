#pragma once

// Transfers that a program makes with libcurl alone, and that fall into libcurl's traps.

enum traps_trap {
    /// No trap: the functions of libcurl are called as the client calls them.
    traps_none,
    /// The write function calls a function of the multi handle.
    traps_multi_in_write,
    /// The timer function calls a function of the multi handle, instead of storing the time.
    traps_multi_in_timer,
    /// The write function holds the first piece back, and gets it again when the transfer is resumed.
    traps_resume,
    /// The write function holds nothing back.
    traps_no_bound,
};

struct traps_findings {
    /// libcurl's code of the transfer; -1 if libcurl waits for nothing before the transfer has ended.
    int code;
    /// The number of bytes of the body.
    long long count;
    /// The maximum number of bytes that one call of `curl_multi_socket_action` has delivered.
    long long count_in_action;
    /// The number of calls of the write function inside `curl_easy_pause`.
    unsigned pieces_in_resume;
    /// The number of status lines that the header function got.
    unsigned status_lines;
};

/// Downloads a URL from a server on this machine. `limit` is the value of `CURLOPT_MAXFILESIZE_LARGE`; 0 for none.
struct traps_findings traps_download(const char *url, enum traps_trap trap, long long limit);

/// libcurl's version, with two hexadecimal digits for each part.
unsigned traps_version(void);
