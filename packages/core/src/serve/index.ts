// What packages use of serve.
export { readArguments } from './client-arguments.ts'
export { clientErrors, lineOf, type Refusal, refusalOfText, toClientMessage } from './client-message.ts'
export { ClientLines, MAX_LINE_BYTES } from './client-lines.ts'
