// What packages use of util/json. QuickJS runs it, too, and has no modules of Node.
export { boundedList, boundedRecord } from './bounded-schema.ts'
export { exactJson, markBigInts, parseExact, tryParseExact } from './parse-exact.ts'
export { floatsOf, inOrder, keepFloats, unmarked, unmarkedBytes } from './exact-numbers.ts'
export { JsonCost, lineCost, MAX_MESSAGE_STRUCTURE } from './line-cost.ts'
export { sortedJson } from './json.ts'
