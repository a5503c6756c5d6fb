"""What easy-dotnet.nvim and nvim-dap do, without Neovim: one debug session of coffee.py by `debugger/start`.

When the program has stopped at its breakpoint, the commands that were given are run, one after another. Then it continues.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
READY = "Named pipe server started: "


class Connection:
    """Messages with a Content-Length header, both ways."""

    def __init__(self, stream):
        self.socket, self.stream = stream, stream.makefile("rb")

    def send(self, message):
        body = json.dumps(message).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def wait(self, fits):
        while header := self.stream.readline():
            self.stream.readline()
            message = json.loads(self.stream.read(int(header.split(b":")[1])))
            if fits(message):
                return message
        sys.exit("the connection has ended")


def call(pipe, method, params):
    pipe.send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
    response = pipe.wait(lambda message: message.get("id") == method)
    if "error" in response:
        sys.exit(response["error"]["message"])
    return response["result"]


def request(dap, seq, command, arguments):
    dap.send({"seq": seq, "type": "request", "command": command, "arguments": arguments})


def event(dap, name):
    return dap.wait(lambda message: message.get("event") == name)


server = subprocess.Popen(["breakroom", "easydotnet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
name = server.stdout.readline().removeprefix(READY).strip()
pipe = socket.socket(socket.AF_UNIX)
pipe.connect(os.path.join(tempfile.gettempdir(), "CoreFxPipe_" + name))
pipe = Connection(pipe)
call(pipe, "initialize", {"request": {"clientInfo": {"version": "3.0.0"}, "projectInfo": {"rootDir": HERE}}})
started = call(pipe, "debugger/start", {"request": {"targetPath": f"{HERE}/coffee.py"}})

dap = Connection(socket.create_connection(("127.0.0.1", started["port"])))
request(dap, 1, "initialize", {"adapterID": "nvim-dap", "clientName": "neovim", "linesStartAt1": True})
request(dap, 2, "attach", {"type": "easy-dotnet", "request": "attach", "name": "easy-dotnet"})
event(dap, "initialized")
request(dap, 3, "setBreakpoints", {"source": {"path": f"{HERE}/coffee.py"}, "breakpoints": [{"line": 6}]})
request(dap, 4, "configurationDone", {})
thread = event(dap, "stopped")["body"]["threadId"]
for command in sys.argv[1:]:
    subprocess.run(command, shell=True)
request(dap, 5, "setBreakpoints", {"source": {"path": f"{HERE}/coffee.py"}, "breakpoints": []})
request(dap, 6, "continue", {"threadId": thread})
event(dap, "terminated")
request(dap, 7, "disconnect", {})
dap.wait(lambda message: message.get("command") == "disconnect")
print("coffee.py has ended")
pipe.socket.shutdown(socket.SHUT_RDWR)
server.stdin.close()
server.wait()
