// Recognises personal data by kind: finds candidates in a text, then verifies them. Pure.
// Every pattern is bounded and starts at something rare, so that the time taken is linear in the text, even in a
// hostile one.
import { isIPv4, isIPv6 } from 'node:net'
import type { MaskKind } from '@sandbridge/core/config/settings'
import { byPatterns, type Match, readingNumbers, type Recogniser } from './by-patterns.ts'
import { email } from './email-recogniser.ts'
import { secret } from './secret-recogniser.ts'

/** ISO 13616: length of the account number by country. */
const IBAN_LENGTHS = new Map(
  'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

/** Mastercard's second series of numbers; other numbers that begin with 2 are more often dates. */
const SECOND_SERIES = String.raw`2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)`
/** Takes the first group only, so that the search goes on at the next group if these digits are no card. */
const CARD_START = new RegExp(String.raw`(?<![\d.])(?:[3-6]\d{3}|${SECOND_SERIES})(?=(?:[ -]?\d){9})`, 'g')
const CARD_DIGITS = /[3-6]\d{3}(?:[ -]?\d){9,15}(?!\d)/y
/** As cards have them printed, by issuer: other digits may stand before and after these. */
const PRINTED_CARD = new RegExp(
  [
    String.raw`(?:4\d{3}|5[1-5]\d\d|${SECOND_SERIES}|6(?:011|2\d\d|4[4-9]\d|5\d\d)|35[2-8]\d)([ -]?)\d{4}\1\d{4}\1\d{4}(?!\d)`,
    String.raw`3[47]\d\d([ -]?)\d{6}\2\d{5}(?!\d)`,
    String.raw`3[0689]\d\d([ -]?)\d{6}\3\d{4}(?!\d)`,
  ].join('|'),
  'y',
)
/** More groups of four than two cards have: a table, in which one of ten numbers would pass. */
const ROW_OF_NUMBERS = /(?:\d{4} ){9}\d{4}(?!\d)/y

/** 13 to 19 digits, alone or in groups, that pass the Luhn check. */
const card: Recogniser = {
  label: 'CARD',
  readsNumbers: true,
  find(text) {
    const matches: Match[] = []
    let from = 0
    /** Up to here, the digits were read from an earlier group, and failed. */
    let failed = 0
    for (const { index: start } of text.matchAll(CARD_START)) {
      if (start < from) continue
      const digits = start < failed ? '' : matchAt(CARD_DIGITS, text, start)
      const number = [digits, matchAt(PRINTED_CARD, text, start)].find((one) => one !== '' && passesLuhn(digitsOf(one)))
      if (number !== undefined) {
        from = start + number.length
        matches.push({ start, end: from, label: 'CARD' })
      } else if (digits !== '') {
        failed = start + digits.length
        if (matchAt(ROW_OF_NUMBERS, text, start) !== '') from = failed
      }
    }
    return matches
  },
}

/** Returns what a sticky expression matches at a position. */
function matchAt(expression: RegExp, text: string, position: number): string {
  expression.lastIndex = position
  return expression.exec(text)?.[0] ?? ''
}

/** Takes the first four characters only: a word before a number may look like the beginning of one. */
const IBAN_START = /\b[A-Z]{2}\d{2}(?=(?:[ -]?[A-Z0-9]){11})/gi
const IBAN_CHARACTERS = /[A-Z0-9]{4}(?: ?[A-Z0-9]){11,30}/iy
/** With hyphens, groups of four: parts of other identifiers, such as UUIDs, look like the rest. */
const IBAN_GROUPS = /[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,7}(?:-[A-Z0-9]{1,3})?(?![A-Z0-9])/iy

const iban: Recogniser = {
  label: 'IBAN',
  readsNumbers: true,
  find(text) {
    const matches: Match[] = []
    let from = 0
    for (const { 0: first, index: start } of text.matchAll(IBAN_START)) {
      const length = IBAN_LENGTHS.get(first.slice(0, 2).toUpperCase())
      if (start < from || length === undefined) continue
      const found = matchAt(IBAN_CHARACTERS, text, start) || matchAt(IBAN_GROUPS, text, start)
      const plain = found.replaceAll(/[ -]/g, '')
      // The text after spaces may look like part of the number, so take the country's length.
      const isLong = found.includes('-') ? plain.length === length : plain.length >= length
      if (!isLong || !passesIban(plain.slice(0, length).toUpperCase())) continue
      from = start + (found.includes('-') ? found.length : withBlanks(found, length))
      matches.push({ start, end: from, label: 'IBAN' })
    }
    return matches
  },
}

/** Returns the length of the shortest prefix with `length` non-blank characters. */
function withBlanks(text: string, length: number): number {
  let seen = 0
  let index = 0
  for (; seen < length; index += 1) if (text[index] !== ' ') seen += 1
  return index
}

/** International numbers with a +, or North American ones of three, three and four digits. */
const phone = readingNumbers('PHONE', [
  { expression: /(?<![\w+])\+\d(?:[ ().\-/]{0,2}\d){7,14}(?!\d)/g, needs: /\+\d/ },
  // A sign between spaces stands in arithmetic, too. Only after the code of an area it does not.
  {
    expression: /(?<![\w+])\+\d{1,3}[ .(]{1,2}(?:0\) ?)?\d{2,5}\)? [-/] \d(?:[ .\-/]{0,2}\d){3,9}(?!\d)/g,
    needs: / [-/] \d/,
  },
  {
    expression: /(?<![\w.])(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}(?!\d)/g,
    needs: /\d{3}[-. ]\d{4}/,
  },
])

const MAY_HOLD_IPV6 = /::|[0-9a-f]:[0-9a-f]{1,4}:[0-9a-f]{1,4}:[0-9a-f]{1,4}:/i

const ip = byPatterns('IP', [
  {
    expression: /(?<![\d.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\d|\.\d)/g,
    needs: /\d\.\d{1,3}\.\d/,
    check: (candidate) => (isIPv4(candidate) ? candidate.length : 0),
  },
  {
    expression: /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4})(?![\w:])/gi,
    needs: MAY_HOLD_IPV6,
    check: (candidate) => (candidate.length > 3 && isIPv6(candidate) ? candidate.length : 0),
  },
  // Right after a word and a colon. Names in code, such as `use:add::fee`, have no digits.
  {
    expression:
      /(?<=[g-z_][\w-]{0,31}:)[0-9a-f]{1,4}:(?:[0-9a-f]{0,4}:){1,6}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4})(?![\w:])/gi,
    needs: MAY_HOLD_IPV6,
    check: (candidate) => (/\d/.test(candidate) && isIPv6(candidate) ? candidate.length : 0),
  },
])

export const RECOGNISERS: Record<MaskKind, Recogniser> = { email, phone, card, iban, ip, secret }

/** The Luhn check of payment card numbers. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** ISO 13616: move country and check digits to the end, count letters from 10; the remainder modulo 97 must be 1. */
function passesIban(number: string): boolean {
  let rest = 0
  for (let index = 0; index < number.length; index += 1) {
    const code = number.charCodeAt((index + 4) % number.length)
    const value = code < 65 ? code - 48 : code - 55
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
