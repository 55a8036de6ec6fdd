// Formats a cron schedule as an entry for the timers of a machine: cron, systemd or launchd. Pure.
import { BridgeError } from '../../errors.ts'

interface Field {
  name: string
  min: number
  max: number
  names?: readonly string[]
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of the week', min: 0, max: 7, names: DAYS },
]
const MAX_LAUNCHD_ENTRIES = 500

/** Each field's values; undefined for all. */
export type CronTimes = (number[] | undefined)[]

export interface TimerEntry {
  /** `weekly-report` */
  name: string
  /** Five cron fields. */
  when: string
  /** A program and its arguments. */
  command: readonly string[]
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID that names the field */
export function parseCron(when: string): CronTimes {
  const parts = when.trim().split(/\s+/)
  if (parts.length !== FIELDS.length) throw invalid(`'${when.slice(0, 80)}' does not have five fields`)
  return parts.map((part, index) => {
    const values = valuesOf(part.toLowerCase(), FIELDS[index]!)
    // Sunday is 0 and 7.
    return index === 4 ? values && [...new Set(values.map((day) => day % 7))].toSorted((a, b) => a - b) : values
  })
}

export function cronEntry({ when, command }: TimerEntry): string {
  parseCron(when)
  // In a crontab, % ends the line.
  return `${when.trim()} ${command
    .map(shellWord)
    .join(' ')
    .replaceAll('%', String.raw`\%`)}\n`
}

export function systemdUnits({ name, when, command }: TimerEntry): string {
  const [minutes, hours, days, months, weekdays] = parseCron(when)
  if (days && weekdays) throw invalid('systemd cannot wait for a day of the month or a day of the week')
  const list = (values: number[] | undefined): string =>
    values?.map((value) => String(value).padStart(2, '0')).join(',') ?? '*'
  const week = weekdays ? `${weekdays.map((day) => capital(DAYS[day]!)).join(',')} ` : ''
  const words = command.map(
    (word) => `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`,
  )
  return [
    `# ~/.config/systemd/user/sandbridge-${name}.service`,
    `[Unit]\nDescription=Sandbridge workflow ${name}\n`,
    `[Service]\nType=oneshot\nExecStart=${words.join(' ')}\n`,
    `# ~/.config/systemd/user/sandbridge-${name}.timer; then: systemctl --user enable --now sandbridge-${name}.timer`,
    `[Unit]\nDescription=Sandbridge workflow ${name}\n`,
    `[Timer]\nOnCalendar=${week}*-${list(months)}-${list(days)} ${list(hours)}:${list(minutes)}:00\n`,
    '[Install]\nWantedBy=timers.target\n',
  ].join('\n')
}

export function launchdList({ name, when, command }: TimerEntry): string {
  const [minutes, hours, days, months, weekdays] = parseCron(when)
  const product = (more: [string, number[] | undefined][]): string[][] =>
    more.reduce<string[][]>(
      (rows, [key, values]) =>
        values === undefined
          ? rows
          : rows.flatMap((row) => values.map((value) => [...row, `<key>${key}</key><integer>${value}</integer>`])),
      [[]],
    )
  const fixed: [string, number[] | undefined][] = [
    ['Minute', minutes],
    ['Hour', hours],
    ['Month', months],
  ]
  // If both days of the month and weekdays are given, either is enough.
  const rows =
    days && weekdays
      ? [...product([...fixed, ['Day', days]]), ...product([...fixed, ['Weekday', weekdays]])]
      : product([...fixed, ['Day', days], ['Weekday', weekdays]])
  if (rows.length > MAX_LAUNCHD_ENTRIES) throw invalid(`launchd would need ${rows.length} entries for '${when}'`)
  const dicts = rows.map((row) => `    <dict>${row.join('')}</dict>`)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ~/Library/LaunchAgents/sandbridge.${name}.plist; then: launchctl load that file -->`,
    '<plist version="1.0">\n<dict>',
    `  <key>Label</key><string>sandbridge.${name}</string>`,
    `  <key>ProgramArguments</key>\n  <array>\n${command.map((word) => `    <string>${xml(word)}</string>`).join('\n')}\n  </array>`,
    `  <key>StartCalendarInterval</key>\n  <array>\n${dicts.join('\n')}\n  </array>`,
    '</dict>\n</plist>\n',
  ].join('\n')
}

function valuesOf(part: string, field: Field): number[] | undefined {
  if (part === '*') return undefined
  const values = new Set<number>()
  for (const item of part.split(',')) {
    const [, range = '', step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(item) ?? []
    const [first = '', last] = range.split('-')
    const from = range === '*' ? field.min : valueOf(first, field)
    const to =
      range === '*' || (last === undefined && step !== undefined)
        ? field.max
        : last === undefined
          ? from
          : valueOf(last, field)
    if (from > to || step === '0' || step === '00')
      throw invalid(`'${part.slice(0, 40)}' is not valid as the ${field.name}`)
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)
  }
  return [...values].toSorted((a, b) => a - b)
}

function valueOf(text: string, { name, min, max, names }: Field): number {
  const named = names?.indexOf(text) ?? -1
  const value = named >= 0 ? named + (min === 0 ? 0 : 1) : /^\d{1,2}$/.test(text) ? Number(text) : NaN
  if (value >= min && value <= max) return value
  throw invalid(`'${text.slice(0, 40)}' is not valid as the ${name}`)
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`
}

function invalid(message: string): BridgeError {
  return new BridgeError('TOOL_ARGUMENTS_INVALID', message, { hint: 'For example: "0 8 * * 1" for Mondays at eight.' })
}
