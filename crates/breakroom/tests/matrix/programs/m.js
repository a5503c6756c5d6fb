// Adds four times and prints each sum. One word says what else it does: see the other programs of this folder.
function add(a, b) {
  let total = a + b;
  const answer = () => total;
  return answer(); // mark: add
}

const fs = require("fs"); // mark: first
const { Worker, isMainThread } = require("worker_threads");

function spin() {
  let count = 0;
  for (;;) {
    count = (count + 1) % 1000000; // mark: spin
  }
}

function work() {
  console.log("working"); // mark: work
}

function talk() {
  for (let i = 0; i < 500; i++) {
    console.log("line " + i);
  }
  console.error("to stderr");
}

function rest(word) {
  const numbers = Array.from({ length: 120 }, (_, i) => i * 10);
  for (let i = 0; i < 4; i++) {
    const total = add(i, 10); // mark: call
    if (word && word.startsWith("/")) {
      fs.writeFileSync(word, "");
    }
    console.log("sum " + total);
  }
  if (word === "seven") {
    process.exit(7);
  }
  console.log("done " + numbers[119]); // mark: end
}

function main(word) {
  if (word === "spin") {
    console.log("spinning");
    spin();
  }
  if (word === "threads") {
    new Worker(__filename).on("exit", () => rest(word));
    return;
  }
  if (word === "throw") {
    throw new Error("thrown"); // mark: throw
  }
  if (word === "ask") {
    process.stdin.once("data", (name) => {
      console.log("hello " + String(name).trim());
      process.stdin.destroy(); // Of a pipe that is only paused Node waits for the end.
      rest(word);
    });
    return;
  }
  if (word === "talk") {
    talk();
  }
  rest(word);
}

if (isMainThread) {
  main(process.argv[2]);
} else {
  work();
}
