// What packages use of upstream/failures.
export { ANSWER_LOST, type Circumstances, type Failure, type RemoteErrors } from './circumstances.ts'
export { REMOTE_HINT, UNSURE, withQuotedTail, withSaid, wordsOf } from './failures.ts'
export { bodyOf, causesOf, isInvalidMessage, namesSession, RpcRefusal, sessionAfter, statusOf } from './refusals.ts'
