import sys


def pour(cups):
    breakpoint()
    print(f"{cups} cups of tea")


pour(3)
sys.exit(2)
