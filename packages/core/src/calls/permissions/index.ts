// What packages use of calls/permissions.
export type { AnswerPage, KeptQuestion } from './answer-page.ts'
export type { Permissions } from './permissions.ts'
