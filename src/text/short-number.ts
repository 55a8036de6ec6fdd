// A number that a person reads in passing, such as how far a cell is: without the digits that only floating point put there. Pure.

/** Whole numbers as they are, others with two decimals, or with three digits when they are smaller than 1. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return String(Number(Math.abs(value) >= 1 ? value.toFixed(2) : value.toPrecision(3)))
}
