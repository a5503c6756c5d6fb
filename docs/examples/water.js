function boil(litres) {
  debugger;
  console.log(`${litres} litres are hot`);
}

boil(1.5);
