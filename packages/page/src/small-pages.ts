// The small pages: the one that a link opens, and the one without access. They need no script and no style. Pure.
import { escaped, html } from '@sandbridge/core/util/text/html.ts'

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
