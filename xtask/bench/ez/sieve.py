def main():
    limit = 1000000
    composite = [False] * (limit + 1)
    count = 0
    for i in range(2, limit + 1):
        if not composite[i]:
            count += 1
            j = i * i
            while j <= limit:
                composite[j] = True
                j += i
    print(count)


main()
