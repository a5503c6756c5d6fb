package main

import "fmt"

func brew(cups int) int {
	perCup := 8
	return cups * perCup
}

func main() {
	left := 100
	left -= brew(1)
	fmt.Println(left, "beans are left")
}
