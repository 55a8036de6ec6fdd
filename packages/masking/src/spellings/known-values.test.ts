// This file verifies that a value which a server returned is masked wherever a cell shows it, as the value itself.
import { describe, expect, it } from 'vitest'
import { MASK_KINDS } from '../../../core/src/config/settings/sandbox.ts'
import { createMaskers } from '../part.ts'

const masker = () => createMaskers({ kinds: MASK_KINDS }).of({})

const MAIL = 'quill.vantrue@zephyr.example'
const ACCENTS = 'rené.gröbä@zephyr.example'
const CHINESE = '李.li@zephyr.example'
const PHONE = '+49 30 7204 4127'
const IBAN = 'DE89370400440532013000'
const KEY = 'ghp_0123456789abcdefghij0123456789abcdef'
const CARD = '4111 1111 1111 1111'
const PASSWORD = 'Tr4vel81Quartz'
const QUOTED = String.raw`Qu"4rry&7<x>\é`
const RECORD = {
  customer: { mail: MAIL, others: [ACCENTS, CHINESE], phone: PHONE, iban: IBAN, card: CARD },
  login: { password: PASSWORD, key: KEY, secret: QUOTED },
}

/** Each byte as an escape of C. */
const octal = (text: string): string =>
  Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

const SHOWN: [where: string, shown: string, masked: string][] = [
  ['a secret without the key that marked it', PASSWORD, '[SECRET_1]'],
  ['a secret in a pair', `[('password', '${PASSWORD}')]`, "[('password', '[SECRET_1]')]"],
  ['a secret in a column', `password            ${PASSWORD}`, 'password            [SECRET_1]'],
  ['a secret in an error', `ValueError: invalid literal: '${PASSWORD}'`, "ValueError: invalid literal: '[SECRET_1]'"],
  ['a key in a word', `key${KEY}xyz`, 'key[SECRET_1]xyz'],
  ['a number in a word', `abc${PHONE}xyz _${IBAN}_`, 'abc[PHONE_1]xyz _[IBAN_1]_'],
  [
    'padding',
    `${MAIL.padStart(60, 'x')}|${PHONE.padStart(30, '_')}`,
    `${'x'.repeat(32)}[EMAIL_1]|${'_'.repeat(14)}[PHONE_1]`,
  ],
  ['tabs that cat -A shows', `col^I${MAIL}^Iend$ ^I${IBAN}^I`, 'col^I[EMAIL_1]^Iend$ ^I[IBAN_1]^I'],
  ['an escape of an escape', String.raw`b'x\\n${MAIL}'`, String.raw`b'x\\n[EMAIL_1]'`],
  ['a colour as repr shows it', String.raw`'\x1b[31m${MAIL}\x1b[0m'`, String.raw`'\x1b[31m[EMAIL_1]\x1b[0m'`],
  ['a plus for a space', `x+${MAIL.replace('@', '%40')}`, 'x+[EMAIL_1]'],
  ['a broken line', 'call +49 30\n7204 4127 or > +49\n> 30 7204 4127', 'call [PHONE_1] or > [PHONE_1]'],
  ['lines of a fixed width', `a: ${PASSWORD} ${MAIL}`.replaceAll(/.{9}/g, '$&\n'), 'a: [SECRET_1] \n[EMAIL_1]'],
  ['lines that sed l cuts', `${IBAN} ${PHONE}`.replaceAll(/.{9}/g, '$&\\\n'), '[IBAN_1] [PHONE_1]'],
  ['a mail', `a=3D${MAIL.replace('@', '=40')} ${KEY.replace('_', '=5F=\n')}`, 'a=3D[EMAIL_1] [SECRET_1]'],
  ['entities with names', MAIL.replace('@', '&commat;').replace('.', '&period;'), '[EMAIL_1]'],
  ['lines with an indent', `a\n  ${MAIL.replace('@', '@\n  ')}\n  b`, 'a\n  [EMAIL_1]\n  b'],
  ['letters apart', `${MAIL.replaceAll(/\B/g, ' ')} ${PASSWORD.replaceAll(/\B/g, '\u200b')}`, '[EMAIL_1] [SECRET_1]'],
  ['another value right after it', `${MAIL}${CARD}`, '[EMAIL_1][CARD_1]'],
  ['CSV', `1,"${QUOTED.replaceAll('"', '""')}"`, '1,"[SECRET_1]"'],
  ['XML', `<v>${QUOTED.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}</v>`, '<v>[SECRET_1]</v>'],
  ['letters apart from their marks', QUOTED.normalize('NFD'), '[SECRET_1]'],
  ['wide letters', PASSWORD.replaceAll(/./g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfe_e0)), '[SECRET_1]'],
  ['a form', `x=${encodeURIComponent(PHONE).replaceAll('%20', '+')}&y=1`, 'x=%2B[PHONE_1]&y=1'],
  ['a number in other groups', '49_307204_4127 4,930,720,441,27 DE89/3704', '[PHONE_1] [PHONE_2] DE89/3704'],
  ['octal escapes', `${octal(MAIL)} ${octal(ACCENTS)}`, '[EMAIL_1] [EMAIL_2]'],
  ['what sed l and ls -b make of accents', ACCENTS.replaceAll(/[^ -~]/g, octal), '[EMAIL_1]'],
  ['what cat -v makes of accents', 'renM-CM-).grM-CM-6bM-CM-$@zephyr.example', '[EMAIL_1]'],
  ['what escape() makes of letters', `${escape('李')}.li@zephyr.example`, '[EMAIL_1]'],
  ['names of letters', ACCENTS.replace('é', String.raw`\N{LATIN SMALL LETTER E WITH ACUTE}`), '[EMAIL_1]'],
  [
    'zeros before a number',
    `${'4930'.padStart(15, '0')}72044127 0,004,930,720,441,27`,
    '00000000000[PHONE_1] 0,00[PHONE_2]',
  ],
  ['comments', `// ${MAIL.replace('t', 't\n// ')} │ ${PHONE.replace('7', '│\n│ 7')}`, '// [EMAIL_1] │ [PHONE_1]'],
  [
    'numbered lines',
    `1: ${MAIL.replace('t', 't\n2: ')}\n   3 ${PHONE.replace('7', '\n   4 7')}`,
    '1: [EMAIL_1]\n   3 [PHONE_1]',
  ],
  ['a list of letters', `['${Array.from(MAIL).join("', '")}']`, "['[EMAIL_1]']"],
  ['UTF-16', String(Buffer.from(MAIL, 'utf16le')), '[EMAIL_1]\0'],
  ['an escape of an accent in bytes', String.raw`b'ren\\xe9.gr\\u00f6b\\xc3\\xa4@zephyr.example'`, "b'[EMAIL_1]'"],
  ['what follows a number', `${PHONE} (2 sub-exceptions)`, '[PHONE_1] (2 sub-exceptions)'],
  ['a folded literal of YAML', `"a ren\\xE9.gr\\\n  \\xF6b\\xE4@zephyr.example b"`, '"a [EMAIL_1] b"'],
  ['JSON in an escape', JSON.stringify(JSON.stringify({ a: `\n${MAIL}` })), String.raw`"{\"a\":\"\\n[EMAIL_1]\"}"`],
]

describe('a value that a server returned', () => {
  it.each(SHOWN)('is masked in %s, and its token gives back itself', (_where, shown, masked) => {
    for (const result of [
      { structuredContent: RECORD },
      { content: [{ type: 'text', text: JSON.stringify(RECORD) }] },
    ]) {
      const one = masker()
      one.returned(result)
      expect(one.maskedNow(shown)).toBe(masked)
      for (const [token] of masked.matchAll(/\[[A-Z]+_\d\]/g))
        expect([
          MAIL,
          ACCENTS,
          CHINESE,
          PHONE,
          PHONE.replaceAll(/\D/g, ''),
          IBAN,
          KEY,
          PASSWORD,
          QUOTED,
          CARD,
          ...shown.split(/[ =&]|%2B/),
        ]).toContain(one.unmask(token))
    }
  })

  it('control: without that result, the value is shown, or more than the value is masked', () => {
    for (const [, shown, masked] of [...SHOWN.slice(3, 10), ...SHOWN.slice(-22, -3)])
      expect(masker().maskedNow(shown)).not.toBe(masked)
  })

  it('is masked where a table or an error cuts it, without a token for what may look like another address', () => {
    const one = masker()
    one.returned(RECORD)
    const shown = `of ${MAIL.slice(0, 9)}... '${MAIL.slice(0, -1)}'… ${PHONE.slice(0, 8)}… ${MAIL}... and so on...`
    const masked = "of [EMAIL]... '[EMAIL]'… [PHONE]… [EMAIL_1]... and so on..."
    expect([one.maskedNow(shown), one.unmask('[EMAIL_1]')]).toEqual([masked, MAIL])
    expect(masker().maskedNow(shown)).toContain(MAIL.slice(0, 9))
  })

  it.each([
    ['between lines of a table', `| ${MAIL.slice(0, 20)} | ${IBAN.slice(0, 12)} | 12 |`, '| [EMAIL] | [IBAN] | 12 |'],
    ['at the end of a line', `key   ${KEY.slice(0, 20)}\nnext`, 'key   [SECRET]\nnext'],
    ['before blanks', `${PASSWORD.slice(0, -1)}  ${CARD.slice(0, 14)}  12`, '[SECRET]  [CARD]  12'],
  ])('is masked where a column cuts it without a sign: %s', (_where, shown, masked) => {
    const one = masker()
    one.returned(RECORD)
    expect(one.maskedNow(shown)).toBe(masked)
    expect(masker().maskedNow(shown)).not.toBe(masked)
  })

  it('is not taken for what only begins like it', () => {
    const one = masker()
    one.returned({ mail: MAIL, password: 'production-pass-1', card: CARD, key: PASSWORD })
    for (const shown of [
      'quill.vantrue',
      'production',
      '4111 1111',
      `${PASSWORD.slice(0, 9)}other`,
      PASSWORD.slice(0, 7),
    ])
      expect(one.maskedNow(`of ${shown} here`)).toBe(`of ${shown} here`)
    expect(one.maskedNow('of 4111 1111 2222 here')).toBe('of 4111 1111 2222 here')
  })

  it('is masked without its name if it is a short password with a digit, as a word of its own', () => {
    const one = masker()
    one.returned({
      a: { password: 'k9Qx2' },
      b: { password: 'zb4Wq7!' },
      c: { password: 'must!' },
      d: { pin: '48291' },
    })
    expect(one.maskedNow("k9Qx2 ('b', 'zb4Wq7!') _k9Qx2_")).toBe("[SECRET_1] ('b', '[SECRET_2]') _[SECRET_1]_")
    for (const shown of ['ak9Qx2', 'k9Qx22', 'you must!', '48291']) expect(one.maskedNow(shown)).toBe(shown)
    expect(masker().maskedNow('k9Qx2')).toBe('k9Qx2')
  })

  it('is not taken for another one that differs by a sign only', () => {
    const one = masker()
    one.returned({ mail: "o'neil@corp.example", phone: PHONE })
    for (const shown of ['oneil@corp.example', 'ann@x.example.org'])
      expect(one.unmask(one.maskedNow(shown)!)).toBe(shown)
    expect(one.maskedNow('149 307204 41279')).toBe('149 307204 41279')
  })

  it('is not found in a longer number, address or name, and a plain word is no secret elsewhere', () => {
    const one = masker()
    one.returned({ passphrase: 'gold of the river' })
    expect(one.maskedNow('it is gold of the river')).toBe('it is [SECRET_1]')
    one.returned({ password: 'required', ip: '10.20.30.40', mail: 'ann@x.example' })
    for (const shown of ['it is required', '110.20.30.400'])
      expect(one.maskedNow(shown)).toBe(masker().maskedNow(shown))
    expect(one.unmask(one.maskedNow('ann@x.example.org')!)).toBe('ann@x.example.org')
    expect(one.maskedNow('ann@x.example.org')).toBe('[EMAIL_1]')
  })

  it('is learned from results of any size in turns', async () => {
    const one = masker()
    one.returned({
      rows: Array.from({ length: 3000 }, (_, at) => ({ mail: `u${at}.x@corp.example`, pin: 'x'.repeat(50) })),
    })
    one.returned({ text: `${'words and words '.repeat(9000)}${PHONE}` })
    const masked = await one.masked((mask) => mask(`_${PHONE}_ xxu2999.x@corp.example`))
    expect(masked).toBe('_[PHONE_1]_ xx[EMAIL_1]')
  })
})
