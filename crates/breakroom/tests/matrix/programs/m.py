# Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
import sys
import threading


def add(a, b):
    total = a + b
    return total  # mark: add


def spin():
    count = 0
    while True:
        count = (count + 1) % 1000000  # mark: spin


def work():
    print("working", flush=True)  # mark: work


def talk():
    for i in range(500):
        print(f"line {i}\n", end="", flush=True)
    print("to stderr\n", end="", file=sys.stderr, flush=True)


def main(word):
    numbers = [i * 10 for i in range(120)]
    if word == "spin":
        print("spinning", flush=True)
        spin()
    if word == "threads":
        worker = threading.Thread(target=work, name="worker")
        worker.start()
        worker.join()
    if word == "throw":
        raise ValueError("thrown")  # mark: throw
    if word == "ask":
        print("hello " + input("name? "), flush=True)
    if word == "talk":
        talk()
    for i in range(4):
        total = add(i, 10)  # mark: call
        if word.startswith("/"):
            open(word, "w").close()
        print(f"sum {total}\n", end="", flush=True)
    if word == "seven":
        sys.exit(7)
    print(f"done {numbers[119]}\n", end="", flush=True)  # mark: end


main(sys.argv[1] if len(sys.argv) > 1 else "")
