def main():
    text = ""
    for i in range(0, 500000):
        text += f"line {i};"
    print(len(text))


main()
