def main():
    counts = {}
    seed = 1
    for i in range(0, 600000):
        seed = (seed * 1103515245 + 12345) % 2147483648
        word = f"w{seed % 5000}"
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    print(len(counts))


main()
