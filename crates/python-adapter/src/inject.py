# Runs debugpy's own command line, with another way into a process: what is run there has a space of its own.
#
# debugpy's code is run as part of the program's main module. It would leave its names there, one of them with the token in
# it, and its debugger would complain of frozen modules in the program's stderr.
import sys

# Files of the project are not taken for modules.
sys.path[:] = filter(None, sys.path)
import os
import shlex
import subprocess

# Nothing gets out of it: where Python runs it between two instructions of the program, the program would end by it.
ALONE = """
import os
ours = "PYDEVD_DISABLE_FILE_VALIDATION" not in os.environ
if ours: os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
try: exec({code!r})
except BaseException:
    try:
        import traceback
        traceback.print_exc()
    except BaseException: pass
finally:
    if ours: os.environ.pop("PYDEVD_DISABLE_FILE_VALIDATION", None)
"""


def alone(code):
    # It has to do without quotes and lines.
    text = ALONE.format(code=code).encode()
    return "exec(bytes((%s)).decode(),dict())" % ",".join(map(str, text))


folder = sys.argv[1]
sys.argv[:2] = [folder]
# The gdb that `breakroom doctor --fix gdb` installs lies beside debugpy. gdb 13 cannot call a function in a process on a
# processor with AMX ("Couldn't write extended state status"), and the interrupted system call of that process then fails.
own_gdb = [os.path.join(os.path.dirname(os.path.dirname(folder)), "gdb", "bin", name) for name in ("python3", "gdb")]
sys.path.insert(0, os.path.dirname(folder))
import debugpy  # noqa: F401

del sys.path[0]
from debugpy.server import cli
import pydevd

sys.path.append(os.path.join(os.path.dirname(pydevd.__file__), "pydevd_attach_to_process"))
import add_code_to_python_process

by_debugger = add_code_to_python_process.run_python_code
run = subprocess.check_call


def check_call(command, **more):
    # gdb stops a thread wherever it is. One that holds Python's lock may be in the midst of changing an object, and code that
    # is run there fails now and then, or the program does. It is asked to run it itself, as soon as it can. Others have to
    # be interrupted: they may wait for ever. PyGILState_Check does not know one from the other where there is a second
    # interpreter. Since 3.12 (0x030c...) each thread knows what it runs; before, what is run is known, by whomever.
    attach = "--eval-command='call (int)DoAttach(0, "
    code = command.partition(attach)[2].rpartition(", ")[0]
    if code:
        orders = (
            "set $now = (void *)0",
            "set $now = (void *)_PyThreadState_UncheckedGet()",
            "set $now = (void *)PyThreadState_GetUnchecked()",
            "set $own = (void *)1",
            "set $own = (void *)PyGILState_GetThisThreadState()",
            "set $version = 0",
            "set $version = *(unsigned long *)&Py_Version",
            "set $held = $now != 0 && ($now == $own || $version >= 0x030c0000)",
        )
        held = "".join("--eval-command='%s' " % order for order in orders)
        later = "$held ? (int)Py_AddPendingCall(&PyRun_SimpleString, %s) : (int)DoAttach(0, " % code
        command = command.replace(attach, held + attach.replace("(int)DoAttach(0, ", later))
    if command.startswith("gdb ") and all(map(os.path.exists, own_gdb)):
        command = shlex.join(own_gdb) + command.removeprefix("gdb")
    return run(command, **more)


subprocess.check_call = check_call
add_code_to_python_process.run_python_code = lambda pid, code, **more: by_debugger(pid, alone(code), **more)

# Since 3.14 Python lets others in by itself, with a file.
by_file = getattr(sys, "remote_exec", None)


def remote_exec(pid, path):
    with open(path) as file:
        code = file.read()
    with open(path, "w") as file:
        file.write(alone(code))
    return by_file(pid, path)


if by_file:
    sys.remote_exec = remote_exec
cli.main()
