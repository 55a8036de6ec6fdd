// What packages use of util/json.
export { boundedList, boundedRecord } from './bounded-schema.ts'
export { exactJson, markBigInts, unmarked, unmarkedBytes } from './exact-json.ts'
export { JsonCost, lineCost } from './line-cost.ts'
export { inOrder, parseExact, tryParseExact } from './parse-exact.ts'
export { sortedJson } from './json.ts'
