// What packages use of util/bytes.
export { createByteTail } from './byte-tail.ts'
export { asUtf8, decodeOther, decodeText, encodingOf } from './decode-text.ts'
export { createLineSplitter, type LineSplitter } from './line-splitter.ts'
