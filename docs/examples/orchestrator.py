"""An orchestrator with two services: it registers a debug session for each, and starts both through a debug bridge.

When both have stopped at their breakpoints, it runs the commands that it was given, one after another. Then it lets the
services run to their ends.
"""

import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOKEN = secrets.token_hex()


class Service:
    """The client of one debug session: the handshake, then DAP on the same socket."""

    def __init__(self, bridge, name, adapter, launch, line):
        self.name, self.seq = name, 0
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(bridge)
        request = {"token": TOKEN, "session_id": name, "run_id": name, "debug_adapter_config": adapter}
        body = json.dumps(request).encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)
        self.stream = self.socket.makefile("rb")
        (length,) = struct.unpack(">I", self.stream.read(4))
        answer = json.loads(self.stream.read(length))
        if not answer["success"]:
            sys.exit(f"{name}: {answer['error']}")
        self.send("initialize", {"adapterID": name, "clientName": "the IDE", "linesStartAt1": True, "pathFormat": "path"})
        self.wait("response", "initialize")
        self.send("launch", launch)
        self.wait("event", "initialized")
        source = {"path": launch["program"]}
        self.send("setBreakpoints", {"source": source, "breakpoints": [{"line": line}]})
        self.send("configurationDone", {})

    def send(self, command, arguments):
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def wait(self, kind, name):
        while header := self.stream.readline():
            self.stream.readline()
            message = json.loads(self.stream.read(int(header.split(b":")[1])))
            if message["type"] == kind and name in (message.get("command"), message.get("event")):
                if message.get("success") is False:
                    sys.exit(f"{self.name}: {message['message']}")
                return message
        sys.exit(f"{self.name}: the connection ended before {name}")


def found(debugger):
    listed = json.loads(subprocess.check_output(["breakroom", "doctor", "--json"]))
    return next(entry["path"] for entry in listed if entry["name"] == debugger)


with tempfile.NamedTemporaryFile("w") as token_file:
    token_file.write(TOKEN)
    token_file.flush()
    command = ["breakroom", "bridge", "--token-file", token_file.name, "--session", "coffee", "--session", "beans"]
    bridge = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    place = json.loads(bridge.stdout.readline())["socket"]

python = {"args": ["python3", found("debugpy")]}
coffee = {"type": "debugpy", "program": f"{HERE}/coffee.py", "console": "internalConsole"}
node = {"args": ["node", found("js-debug"), "{{port}}", "127.0.0.1"], "mode": "tcp-connect"}
beans = {"type": "pwa-node", "program": f"{HERE}/beans.js", "cwd": HERE}
services = [Service(place, "coffee", python, coffee, 6), Service(place, "beans", node, beans, 3)]
threads = [service.wait("event", "stopped")["body"]["threadId"] for service in services]
for command in sys.argv[1:]:
    subprocess.run(command, shell=True)
for service, thread in zip(services, threads):
    service.send("setBreakpoints", {"source": {"path": f"{HERE}/coffee.py"}, "breakpoints": []})
    service.send("continue", {"threadId": thread})
    service.wait("event", "terminated")
    service.send("disconnect", {})
    service.wait("response", "disconnect")
bridge.stdin.close()
changes = map(json.loads, bridge.stdout)
ended = [change for change in changes if change["state"] in ("terminated", "error")]
for change in sorted(ended, key=lambda change: change["session"]):
    print(change["session"], change["state"])
