// What packages use of calls.
export type { AnswerPage, KeptQuestion } from './permissions/answer-page.ts'
export type { Permissions } from './permissions/permissions.ts'
export { named } from './notes/unsearched-note.ts'
export { observed } from './observed-call.ts'
export type { Ability, Asker, Question } from './questions/questions.ts'
export { withUser } from './questions/with-user.ts'
export { allowedServer } from './scope.ts'
export { refuseUntrusted } from './trust-hint.ts'
