# Runs the adapter of debugpy, and lets in nobody but the same user.
import sys
# What lies in the project's folder is not taken for a module.
del sys.path[0]
import os, runpy, socket
accept = socket.socket.accept

def is_ours(connection):
    far, near = (":%04X" % end[1] for end in (connection.getpeername(), connection.getsockname()))
    for look in range(3):
        owners = set()
        for table in filter(os.path.exists, ("/proc/net/tcp", "/proc/net/tcp6")):
            with open(table) as rows:
                for row in map(str.split, rows):
                    if row[1].endswith(far) and row[2].endswith(near) and row[9] != "0":
                        owners.add(row[7])
        if owners:
            return owners == {str(os.getuid())}
    return False

def accept_ours(listener):
    while True:
        connection, peer = accept(listener)
        try:
            if is_ours(connection):
                return connection, peer
        except OSError:
            pass
        connection.close()

socket.socket.accept = accept_ours
del sys.argv[0]
if os.path.isabs(sys.argv[0]):
    runpy.run_path(sys.argv[0], run_name="__main__")
else:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
