# Has the main thread hear the signal by which it is told that it is to stop (`idle.py`), and is run by it.
#
# SIGURG is nothing to a program that does not ask for it, nor to what it starts. One that does is left alone.
import signal
import sys


def stop_idle(_number, frame):
    try:
        sys.modules["pydevd"].stop_idle(frame)
    except Exception:
        pass


if signal.getsignal(signal.SIGURG) is signal.SIG_DFL:
    signal.signal(signal.SIGURG, stop_idle)
