"""A Visual Studio with the extension for remote script runtimes, as far as `breakroom vsx` can tell.

It debugs a program with a breakpoint on one line, prints what it sees there, runs the commands that it was given, and lets the
program go on: visual_studio.py PROGRAM LINE [COMMAND...]
"""

import json
import socket
import subprocess
import sys


class VisualStudio:
    def __init__(self, host, port):
        self.seq = 0
        self.lines = socket.create_connection((host, int(port))).makefile("rw", encoding="utf-8", newline="\n")

    def send(self, command, **fields):
        self.seq += 1
        request = {"seq": self.seq, "type": "request", "command": command, **fields}
        self.lines.write(json.dumps(request) + "\n")
        self.lines.flush()

    def wait(self, name):
        for line in self.lines:
            message = json.loads(line)
            if message.get("event") == "output":
                print(f"[{message['category']}] {message['output']}", end="")
            if name in (message.get("command"), message.get("event")):
                if message.get("success") is False:
                    sys.exit(f"{name}: {message['message']}")
                return message
        sys.exit(f"the connection ended before {name}")

    def ask(self, command, **fields):
        self.send(command, **fields)
        return self.wait(command)


def main():
    program, line, *commands = sys.argv[1:]
    server = subprocess.Popen(
        ["breakroom", "vsx", "--listen", "127.0.0.1:0", program], stdout=subprocess.PIPE, text=True
    )
    try:
        host, port = server.stdout.readline().split()[-1].rsplit(":", 1)
        vs = VisualStudio(host, port)
        vs.ask("start")
        vs.send(
            "set_breakpoint", file=program, line=int(line), function="", functionLineOffset=0, enabled=True,
            conditionType="none", condition="",
        )
        vs.send("ready")
        stopped = vs.wait("stopped")
        thread = stopped["threadId"]
        print(f"{stopped['reason']} at {stopped['file']}:{stopped['line']}")
        for frame in vs.ask("get_stack", threadId=thread)["frames"]:
            print(f"  {frame['name']} {frame['file']}:{frame['line']}")
        for variable in vs.ask("get_scope", threadId=thread, frameId=1)["variables"]:
            print(f"  {variable['name']}: {variable['type']} = {variable['value']}")
        for command in commands:
            sys.stdout.flush()
            subprocess.run(command, shell=True, check=False)
        vs.send("remove_breakpoint", file=program, line=int(line))
        vs.ask("continue", threadId=thread)
        exited = vs.wait("program_exited")
        print(f"exit code {exited['exitCode']}")
        vs.send("stop")
    finally:
        server.terminate()
        server.wait()


main()
