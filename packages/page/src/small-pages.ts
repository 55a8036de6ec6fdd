// The small pages: those that a link opens, and the one without access. They need no style. Pure.
import { hash } from 'node:crypto'
import { escaped, html } from '@sandbridge/http/html.ts'

const SUBMIT = 'document.forms[0].submit()'
/** The only script of these pages, for their content security policy. */
export const SUBMIT_HASH = `'sha256-${hash('sha256', SUBMIT, 'base64')}'`

/** Redeems the link at `action`, by its form: whoever only looks at the link, as a preview does, sends none. */
export function openingPage(action: string): string {
  const form = `<form method="post" action="${escaped(action)}"><button>Open Sandbridge</button></form>`
  return html('Sandbridge', '', `${form}<script>${SUBMIT}</script>`)
}

/**
 * Forwards to the page, with the key after `#`, which browsers send to no server. An HTTP redirect would not work:
 * after a link on another site, a browser sends no strict cookie along a redirect chain, but it does from a page of the
 * same origin.
 */
export function enteringPage(address: string): string {
  return html('Sandbridge', `<meta http-equiv="refresh" content="0;url=${escaped(address)}">`, '<p>Opening…</p>')
}

/** @param reason one sentence */
export function lockedPage(reason: string): string {
  const what = 'Get a new one with <code>sandbridge ui</code>, or press Enter where it runs.'
  return html('Sandbridge: no access', '', `<h1>No access</h1><p>${reason}</p><p>${what}</p>`)
}

/** A question about calls, with a button for each answer. @param form proves that the form was opened here */
export function questionPage({
  text,
  action,
  form,
  answers,
}: {
  text: string
  action: string
  form: string
  answers: ReadonlyMap<string, string>
}): string {
  const buttons = [...answers].map(
    ([words, answer]) => `<p><button name="answer" value="${answer}">${escaped(words)}</button></p>`,
  )
  const body = `<h1>A call waits for your answer</h1><pre>${escaped(text)}</pre>`
  const fields = `<input type="hidden" name="form" value="${form}">${buttons.join('')}`
  return html('Sandbridge: a question', '', `${body}<form method="post" action="${action}">${fields}</form>`)
}

/** @param note one sentence */
export function notePage(note: string): string {
  return html('Sandbridge', '', `<p role="status">${escaped(note)}</p>`)
}
