// Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

int add(int a, int b) {
    int total = a + b;
    return total; // mark: add
}

void spin() {
    volatile unsigned count = 0;
    for (;;) {
        count = count + 1; // mark: spin
    }
}

void work() {
    std::printf("working\n"); // mark: work
}

void talk() {
    for (int i = 0; i < 500; i++) {
        std::printf("line %d\n", i);
    }
    std::fprintf(stderr, "to stderr\n");
}

void fail() {
    throw std::runtime_error("thrown"); // mark: throw
}

void ask() {
    char name[32] = "";
    if (std::scanf("%31s", name) == 1) {
        std::printf("hello %s\n", name);
    }
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    int numbers[120];
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int i = 0; i < 120; i++) {
        numbers[i] = i * 10;
    }
    if (std::strcmp(word, "spin") == 0) {
        std::printf("spinning\n");
        spin();
    }
    if (std::strcmp(word, "threads") == 0) {
        std::thread(work).join();
    }
    if (std::strcmp(word, "throw") == 0) {
        fail();
    }
    if (std::strcmp(word, "ask") == 0) {
        ask();
    }
    if (std::strcmp(word, "talk") == 0) {
        talk();
    }
    for (int i = 0; i < 4; i++) {
        int total = add(i, 10); // mark: call
        if (word[0] == '/') {
            std::fclose(std::fopen(word, "w"));
        }
        std::printf("sum %d\n", total);
    }
    if (std::strcmp(word, "seven") == 0) {
        return 7;
    }
    std::printf("done %d\n", numbers[119]); // mark: end
    return 0;
}
