"""What the public clients debug: asks for a name and greets it three times. The word "spin" has it run for ever."""

import sys


def greet(name, times):
    greeting = "hello " + name
    return greeting * times  # mark: return


def spin():
    count = 0
    while True:
        count = (count + 1) % 1000000


if "spin" in sys.argv[1:]:
    spin()
name = input()  # mark: ask
for times in range(1, 4):
    print(greet(name, times), flush=True)
sys.exit(3)
