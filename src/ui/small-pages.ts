// The pages beside the page: what a link opens, and what somebody without one sees. They need no script and no style. Pure.
import { escaped, html } from '../text/html.ts'

/**
 * Goes on to the page, with the key behind `#`, which no server is sent. A redirect would not do: a browser that comes from another
 * site's link sends no strict cookie along a chain of redirects, but it does from a page of our own.
 */
export function enteringPage(address: string): string {
  return html('Sandbridge', `<meta http-equiv="refresh" content="0;url=${escaped(address)}">`, '<p>Opening…</p>')
}

/** @param reason a sentence */
export function lockedPage(reason: string): string {
  const what = 'Get a new one with <code>sandbridge ui</code>, or press Enter where it runs.'
  return html('Sandbridge: no access', '', `<h1>No access</h1><p>${reason}</p><p>${what}</p>`)
}

/** One question about calls, with a button for each answer. @param form what shows that the form was opened here */
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

/** @param note a sentence */
export function notePage(note: string): string {
  return html('Sandbridge', '', `<p role="status">${escaped(note)}</p>`)
}
