"""The loop around every competitor: "prepare FILES" loads the data, "run" does the work once and answers with seconds, peak memory and numbers to compare."""
# SPDX-License-Identifier: BSD-3-Clause
import gc
import json
import sys
import time


def _status(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))


def serve(prepare, work, check, seconds=None):
    """prepare(files) -> state; work(state) -> result (timed); check(result) -> list of numbers. Work that does a part of the whole says by
    seconds(result) what the whole would take."""
    state = None
    for line in sys.stdin:
        words = line.split()
        if words[0] == "prepare":
            state = prepare(words[1:])
            print(json.dumps("ready"), flush=True)
            continue
        gc.collect()
        with open("/proc/self/clear_refs", "w") as reset:
            reset.write("5")  # the peak starts here
        before = _status("VmRSS")
        start = time.perf_counter()
        result = work(state)
        taken = time.perf_counter() - start
        peak = _status("VmHWM") - before
        answer = {"seconds": seconds(result) if seconds else taken, "peak_bytes": peak, "check": [float(x) for x in check(result)]}
        del result
        print(json.dumps(answer), flush=True)
