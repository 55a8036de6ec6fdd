// This file verifies that questions of others do not end a link.
import { expect, it } from 'vitest'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'
import { QuestionLinks } from './question-links.ts'

it('a link to a question opens after the links of 500 other questions were made', () => {
  const links = new QuestionLinks(newFolder())
  const question = { id: '0'.repeat(16), asking: 'a', text: 't', pid: process.pid, until: Infinity }
  const link = links.newLink(question)
  for (let at = 0; at < 500; at += 1) links.newLink({ ...question, asking: `${at}` })
  expect(links.open(link, '/', []).status).toBe(200)
  expect(links.open('x'.repeat(32), '/', []).status).toBe(401)
})
