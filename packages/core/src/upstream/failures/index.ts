// What packages use of upstream/failures.
export { ANSWER_LOST, type Circumstances, type Failure, type RemoteErrors } from './circumstances.ts'
export { REMOTE_HINT, withQuotedTail, withSaid, wordsOf } from './failures.ts'
export { bodyOf, causesOf, namesSession, RpcRefusal, sessionAfter, statusOf } from './refusals.ts'
