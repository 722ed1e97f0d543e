/* base/status.h - how every function that can fail says so. */
#ifndef WR_BASE_STATUS_H
#define WR_BASE_STATUS_H

#define WR_MUST_USE           __attribute__((warn_unused_result))
#define WR_PRINTF(text, args) __attribute__((format(printf, text, args)))

/* What the caller must do next. What went wrong is in struct wr_error. */
enum wr_status {
    WR_OK = 0,
    WR_AGAIN,  /* nothing to do now, or a queue is full: come back after poll() */
    WR_RETRY,  /* a connection is lost: drop it, back off, resume from the confirmed LSN */
    WR_REJECT, /* this one row cannot be relayed: the configured policy decides */
    WR_FATAL,  /* going on would lose or corrupt data: confirm nothing more, exit */
};

struct wr_error {
    enum wr_status status;
    const char *where; /* static: the module that failed */
    char text[768];
};

/* Fills `err` and returns `status`, so that a failure is one return statement. */
enum wr_status wr_fail(struct wr_error *err, enum wr_status status, const char *where,
                       const char *format, ...) WR_PRINTF(4, 5);

#endif /* WR_BASE_STATUS_H */
