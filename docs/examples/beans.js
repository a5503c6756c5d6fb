function brew(cups) {
  const perCup = 8;
  return cups * perCup;
}

let left = 100;
left -= brew(1);
console.log(`${left} beans are left`);
