# A program that waits can be paused: pydevd stops a thread at the next line of the program, and one that sleeps or serves
# nobody runs none.
#
# Run in the process that is debugged, as a part of pydevd, so that it is neither shown nor stopped in. If a pause has led
# nowhere for a while the main thread is sent a signal: Python lets its handler (`listen.py`) run wherever that thread waits,
# and waits on behind it. Nothing gets out of here.
import ctypes
import linecache
import os
import signal
import sys
import threading
import types

import pydevd
from _pydevd_bundle.pydevd_api import PyDevdAPI
from _pydevd_bundle.pydevd_constants import STATE_SUSPEND

UNTIL_IDLE = 0.3
# Where none of what waits is the program's own, there is a line to stop at.
NAME = "/program/idle"
LINE = "def idle(stop): stop()  # The program is idle: it waits in a library.\n"


def is_debuggers(debugger, frame):
    return debugger.get_file_type(frame) == debugger.PYDEV_FILE


def is_shown(debugger, frame):
    if is_debuggers(debugger, frame):
        return False
    filtered = debugger.is_files_filter_enabled
    return not (filtered and debugger.apply_files_filter(frame, frame.f_code.co_filename, False))


# Before that the debugger itself is at work, and will stop at the first line.
def has_begun(debugger, frame):
    mains = (each for each in stack(frame) if each.f_globals.get("__name__") == "__main__")
    return any(not is_debuggers(debugger, each) for each in mains)


def stack(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


# Whether it is to stop, and does not yet.
def is_asked(debugger):
    info = getattr(threading.main_thread(), "additional_info", None)
    standing = debugger._threads_suspended_single_notification._suspended_thread_id_to_thread
    return info is not None and info.pydev_state == STATE_SUSPEND and not standing


def stop_in(debugger, frame):
    if is_asked(debugger):
        debugger.do_wait_suspend(threading.main_thread(), frame, "line", None)


def stop(frame):
    debugger = pydevd.get_global_debugger()
    # Inside of the debugger it is on its way to a stop.
    if debugger is None or not is_asked(debugger) or is_debuggers(debugger, frame):
        return
    if any(is_shown(debugger, each) for each in stack(frame)):
        stop_in(debugger, frame)
    elif has_begun(debugger, frame):
        linecache.cache[NAME] = (len(LINE), None, [LINE], NAME)
        # Nothing of it is run before, or the stop would be there.
        code = compile(LINE, NAME, "exec").co_consts
        idle = types.FunctionType(next(each for each in code if hasattr(each, "co_code")), {})
        idle(lambda: stop_in(debugger, sys._getframe(1)))


def wake():
    try:
        debugger = pydevd.get_global_debugger()
        handler = getattr(signal.getsignal(signal.SIGURG), "__name__", None)
        if debugger is not None and is_asked(debugger) and handler == "stop_idle":
            # The kernel gives it to the main thread. That one's `ident` may be none of a thread (gevent puts a greenlet's
            # there), and to signal that is to wait for ever, with Python's lock held.
            os.kill(os.getpid(), signal.SIGURG)
    except Exception:
        pass


def listen(_):
    try:
        exec(compile(LISTEN, pydevd.__file__, "exec"), {})
    except Exception:
        pass
    return 0


def request_suspend_thread(self, debugger, *more, **named):
    answer = usual(self, debugger, *more, **named)
    try:
        debugger.timeout_tracker.call_on_timeout(UNTIL_IDLE, wake)
    except Exception:
        # A pydevd that has no such thing pauses as it always has.
        pass
    return answer


if not hasattr(pydevd, "stop_idle"):
    usual = PyDevdAPI.request_suspend_thread
    PyDevdAPI.request_suspend_thread = request_suspend_thread
    pydevd.stop_idle = stop
    # Only the main thread may say what is done at a signal.
    by_main = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(listen)
    ctypes.pythonapi.Py_AddPendingCall(by_main, None)
