// What packages use of serve.
export { readArguments } from './client-arguments.ts'
export { clientErrors } from './client-errors.ts'
export { ClientLines, MAX_LINE_BYTES } from './client-lines.ts'
export { lineOf, type Refusal, refusalOfText, toClientMessage } from './client-message.ts'
