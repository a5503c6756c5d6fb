#include <stdio.h>

static int brew(int cups) {
    int per_cup = 8;
    return cups * per_cup;
}

int main(void) {
    int left = 100;
    left -= brew(1);
    printf("%d beans are left\n", left);
    return 0;
}
