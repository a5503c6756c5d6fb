"""An orchestrator with two services, which the IDE that started this script runs: one through a debug bridge, one without.

Each service stops at the breakpoint in its source. Then the commands that were given run, with the ids of the two sessions in
TEA and WATER. At the end it prints what the IDE reported.
"""

import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(configuration, *options):
    command = ["breakroom", "bridge", "run", *options, "-"]
    service = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    service.stdin.write(json.dumps({"launch_configurations": [configuration]}))
    service.stdin.close()
    return service


def stopped(name):
    """The session in which the IDE debugs a service, as soon as the service has stopped."""
    while True:
        for session in json.loads(subprocess.check_output(["breakroom", "ls", "--json"])):
            is_bridges = "session" in session["labels"]
            if session["name"].endswith(name) and session["state"] == "stopped" and not is_bridges:
                return session["id"]
        time.sleep(0.1)


tea = run({"type": "python", "program_path": f"{HERE}/tea.py"})
water = run({"type": "node", "script_path": f"{HERE}/water.js"}, "--no-bridge")
os.environ["TEA"], os.environ["WATER"] = stopped("tea.py"), stopped("water.js")
for command in sys.argv[1:]:
    subprocess.run(command, shell=True)
for name, service in (("tea", tea), ("water", water)):
    for notification in map(json.loads, service.stdout):
        said = [notification[member] for member in ("log_message", "exit_code") if member in notification]
        print(name, notification["notification_type"], *said)
    print(name, "exit status", service.wait())
