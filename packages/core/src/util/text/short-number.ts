// Formats numbers for people, such as a cell's progress, without digits from floating-point errors. Pure.

/** Whole numbers unchanged; others with two decimals, or three digits if they are below 1. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return String(Number(Math.abs(value) >= 1 ? value.toFixed(2) : value.toPrecision(3)))
}
