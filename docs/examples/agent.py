"""An agent without a mind: calls the tools that it is given, each with its arguments, and prints what they answer."""

import json
import subprocess
import sys

server = subprocess.Popen(["breakroom", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(message):
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def ask(number, method, params):
    say({"id": number, "method": method, "params": params})
    for line in server.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            return message["result"]


me = {"name": "agent.py", "version": "1"}
ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": me})
say({"method": "notifications/initialized"})
for number, (tool, arguments) in enumerate(zip(sys.argv[1::2], sys.argv[2::2]), start=1):
    answer = ask(number, "tools/call", {"name": tool, "arguments": json.loads(arguments)})
    print(f"== {tool} {arguments}")
    print(answer["content"][0]["text"])
server.stdin.close()
server.wait()
