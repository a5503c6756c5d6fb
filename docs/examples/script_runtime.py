"""A program with scripts of its own and a debug server for them: the smallest runtime of the remote runtime protocol.

A script is a line of text for each step; `NAME = VALUE` sets a variable, everything else is printed. The program waits for a
debugger, and runs its script then. It is given commands to run meanwhile, in which {address} is where it listens.
"""

import json
import os
import socket
import subprocess
import sys
import threading

SCRIPT = "greet.script"
COMMANDS = (
    "start", "ready", "stop", "continue", "step", "set_breakpoint", "remove_breakpoint",
    "get_threads", "get_stack", "get_scope", "get_evaluation", "set_variable",
)
TEXT = ["name = Ada", "hello", "name = Grace", "goodbye"]


class Runtime:
    def __init__(self, connection):
        self.lines = connection.makefile("rw", encoding="utf-8", newline="\n")
        self.breakpoints, self.variables, self.line, self.goes = set(), {}, 0, threading.Event()
        self.steps, self.sending = False, threading.Lock()

    def send(self, message):
        try:
            with self.sending:
                self.lines.write(json.dumps(message, ensure_ascii=False) + "\n")
                self.lines.flush()
        except OSError:
            pass  # The debugger has left; the script goes on.

    def event(self, name, **fields):
        self.send({"type": "event", "event": name, **fields})

    def answer(self, request, success=True, **fields):
        envelope = {"type": "response", "command": request["command"], "requestSeq": request["seq"]}
        self.send({**envelope, "success": success, **fields})

    def listen(self):
        for line in self.lines:
            request = json.loads(line)
            if request["command"] in COMMANDS:
                getattr(self, request["command"])(request)
            else:
                self.answer(request, False, message="unsupported")

    def start(self, request):
        self.answer(request)

    def ready(self, request):
        threading.Thread(target=self.run).start()

    def stop(self, request):
        self.breakpoints.clear()
        self.goes.set()

    def set_breakpoint(self, request):
        if request["enabled"]:
            self.breakpoints.add(request["line"])

    def remove_breakpoint(self, request):
        self.breakpoints.discard(request["line"])

    def step(self, request):
        self.steps = True
        self.answer(request)
        self.goes.set()

    def get_threads(self, request):
        self.answer(request, threads=[{"id": 1, "name": "script"}])

    def get_stack(self, request):
        frame = {"id": 1, "name": "script", "file": SCRIPT, "line": self.line}
        self.answer(request, threadId=1, frames=[frame])

    def variable(self, name):
        value = self.variables[name]
        addr = 1 + list(self.variables).index(name)
        return {"addr": addr, "name": name, "value": value, "type": "text", "typeId": 1, "size": 0}

    def get_scope(self, request):
        self.answer(request, threadId=1, frameId=1, variables=[self.variable(name) for name in self.variables])

    def get_evaluation(self, request):
        name = request["expression"]
        if name in self.variables:
            self.answer(request, threadId=1, frameId=1, expression=name, result=self.variable(name))
        else:
            self.answer(request, False, message=f"there is no variable {name}")

    def set_variable(self, request):
        self.variables[list(self.variables)[request["addr"] - 1]] = request["value"]
        self.answer(request, threadId=1, frameId=1, addr=request["addr"], typeId=1)

    def run(self):
        for self.line, text in enumerate(TEXT, 1):
            reason = "step" if self.steps else "breakpoint"
            if self.steps or self.line in self.breakpoints:
                self.steps = False
                self.goes.clear()
                self.event("stopped", reason=reason, threadId=1, file=SCRIPT, line=self.line)
                self.goes.wait()
            name, is_set, value = text.partition(" = ")
            if is_set:
                self.variables[name] = value
            else:
                self.event("output", category="stdout", output=f"{text}, {self.variables['name']}\n")
        self.event("program_exited", exitCode=0)


def resume(self, request):
    self.answer(request)
    self.event("continued", threadId=1)
    self.goes.set()


# `continue` is a word of Python.
setattr(Runtime, "continue", resume)


def main():
    with open(SCRIPT, "w", encoding="utf-8") as script:
        script.write("\n".join(TEXT) + "\n")
    listener = socket.create_server(("127.0.0.1", 0))
    address = "127.0.0.1:%d" % listener.getsockname()[1]
    for command in sys.argv[1:]:
        debugger = subprocess.Popen(command.replace("{address}", address), shell=True)
        connection, _ = listener.accept()
        try:
            Runtime(connection).listen()
        except OSError:
            pass
        debugger.wait()
    os.remove(SCRIPT)


main()
