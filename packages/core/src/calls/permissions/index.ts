// What packages use of calls/permissions.
export type { AnswerPage } from './answer-page.ts'
export { answersTo, isAnswer } from './ask-by-elicitation.ts'
export type { Admitted } from './cell-permissions.ts'
export { answerQuestion, type KeptQuestion, listQuestions } from './kept-questions.ts'
