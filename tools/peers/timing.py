"""Timing of a call: the median of at most three."""

import statistics
import time

# The call is repeated while its total time is less than this, and at most three times.
ENOUGH = 5.0


def timed(call):
    """Returns the last result, and the seconds of a call with the number of processors it kept busy."""
    seconds, processor = [], 0.0
    while not seconds or (len(seconds) < 3 and sum(seconds) < ENOUGH):
        begin = time.perf_counter(), time.process_time()
        result = call()
        seconds.append(time.perf_counter() - begin[0])
        processor += time.process_time() - begin[1]
    return result, {"seconds": statistics.median(seconds), "busy": processor / sum(seconds)}
