// Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
package main

import (
	"fmt"
	"os"
)

func add(a, b int) int {
	total := a + b
	answer := &total
	return *answer // mark: add
}

func spin() {
	count := 0
	for {
		count = (count + 1) % 1000000 // mark: spin
	}
}

func work(done chan bool) {
	fmt.Println("working") // mark: work
	done <- true
}

func talk() {
	for i := 0; i < 500; i++ {
		fmt.Printf("line %d\n", i)
	}
	fmt.Fprintln(os.Stderr, "to stderr")
}

func main() {
	word := ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	numbers := make([]int, 120)
	for i := range numbers {
		numbers[i] = i * 10
	}
	switch word {
	case "spin":
		fmt.Println("spinning")
		spin()
	case "threads":
		done := make(chan bool)
		go work(done)
		<-done
	case "throw":
		panic("thrown") // mark: throw
	case "ask":
		name := ""
		fmt.Scanln(&name)
		fmt.Println("hello " + name)
	case "talk":
		talk()
	}
	for i := 0; i < 4; i++ {
		total := add(i, 10) // mark: call
		if len(word) > 0 && word[0] == '/' {
			os.WriteFile(word, nil, 0o600)
		}
		fmt.Printf("sum %d\n", total)
	}
	if word == "seven" {
		os.Exit(7)
	}
	fmt.Printf("done %d\n", numbers[119]) // mark: end
}
