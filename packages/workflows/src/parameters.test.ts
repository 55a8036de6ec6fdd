import { expect, it } from 'vitest'
import { checkArguments, inputSchemaOf, parseArguments } from './parameters.ts'

const PARAMETERS = ['week', 'day', 'month', 'year', 'date', 'title'].map((name) => ({
  name,
  type: name === 'date' || name === 'title' ? 'str' : 'int',
  required: false,
}))
const AUTO = PARAMETERS.flatMap(({ name }) => [`--${name}`, 'auto'])

it.each([
  ['Pacific/Kiritimati', { week: 53, day: 1, month: 1, year: 2027, date: '2027-01-01' }],
  ['UTC', { week: 53, day: 31, month: 12, year: 2026, date: '2026-12-31' }],
  ['Pacific/Pago_Pago', { week: 53, day: 30, month: 12, year: 2026, date: '2026-12-30' }],
])('auto is the date in the given time zone: %s', (zone, expected) => {
  const moment = new Date(zone === 'Pacific/Pago_Pago' ? '2026-12-31T10:30:00Z' : '2026-12-31T12:00:00Z')
  expect(parseArguments(AUTO, PARAMETERS, moment, zone)).toEqual({ ...expected, title: 'auto' })
})

it.each([
  [['--week', 'auto', '--year', 'auto'], { week: 53, year: 2026 }],
  [['--week=auto', '--year=auto'], { week: 53, year: 2026 }],
  [['--week', '5', '--year', 'auto'], { week: 5, year: 2027 }],
  [['--year', 'auto'], { year: 2027 }],
])('the year beside --week auto is that of the ISO week: %s', (words, expected) => {
  const parameters = PARAMETERS.filter(({ name }) => ['week', 'year'].includes(name))
  expect(parseArguments(words, parameters, new Date('2027-01-01T12:00:00Z'), 'UTC')).toEqual(expected)
})

const parameter = (type: string, more: { required?: boolean; default?: null | string } = {}) => ({
  name: 'n',
  type,
  required: false,
  ...more,
})

it.each([
  ['int', { type: 'integer' }, [5, 5.0], ['5', 2.5, null, true, [1]], 'int'],
  ['float', { type: 'number' }, [5, 2.5], ['5', null, true], 'float'],
  ['bool', { type: 'boolean' }, [true], [1, 'true', null], 'bool'],
  ['str', { type: 'string' }, ['', 'x'], [5, null], 'str'],
  [
    "Literal['test', 'real']",
    { type: 'string', enum: ['test', 'real'] },
    ['real'],
    ['tset', null, 1],
    "Literal['test', 'real']",
  ],
  ["Literal['a]|b']", { type: 'string', enum: ['a]|b'] }, ['a]|b'], ['a'], "Literal['a]|b']"],
  ['list[int | str]', { type: 'array' }, [[], [1]], ['x', {}, null], 'list'],
  ['list[int]', { type: 'array', items: { type: 'integer' } }, [[], [1]], ['x', {}, null], 'list[int]'],
  ['Dict[str, int]', { type: 'object' }, [{}], ['x', [], null], 'dict'],
  ['int | None', { type: ['integer', 'null'] }, [5, null], ['5'], 'int | None'],
  ['Optional[list]', { type: ['array', 'null'] }, [[1], null], ['5'], 'list | None'],
  [
    "Optional[Literal['a']]",
    { type: ['string', 'null'], enum: ['a', null] },
    ['a', null],
    ['b'],
    "Literal['a'] | None",
  ],
  ['list[int] | dict[str, int]', {}, [[], {}, 'x', null], [], ''],
  ['datetime.date', {}, ['2026-01-01', 5, null], [], ''],
])('a client gives what the schema of %s allows', (type, schema, allowed, refused, what) => {
  expect(inputSchemaOf([parameter(type)]).properties).toEqual({ n: schema })
  for (const n of allowed) checkArguments({ n }, [parameter(type)], 'pay')
  for (const n of refused)
    expect(() => checkArguments({ n }, [parameter(type)], 'pay')).toThrow(`'n' of pay must be ${what}, not `)
})

it('null is allowed where it is the default', () => {
  const parameters = [parameter('dict', { default: null })]
  expect(inputSchemaOf(parameters).properties).toEqual({ n: { type: ['object', 'null'], default: null } })
  checkArguments({ n: null }, parameters, 'pay')
})

it('an infinite number, which JSON lacks, is refused', () => {
  expect(() => checkArguments({ n: Infinity }, [parameter('float')], 'pay')).toThrow(
    "'n' of pay must be a finite number",
  )
})

it('a missing argument is refused', () => {
  expect(() => checkArguments({}, [parameter('int', { required: true })], 'pay')).toThrow("pay needs 'n'")
})

it.each([
  ['größe', ['--größe', '3']],
  ['größe', ['--größe=3']],
  // Some keyboards and file names have the letter and its dots as two characters.
  ['größe', ['--gro\u0308ße', '3']],
  ['数_量', ['--数-量', '3']],
])('a parameter may have letters beyond ASCII: %s', (name, words) => {
  expect(parseArguments(words, [{ name, type: 'int', required: true }])).toEqual({ [name]: 3 })
})

it('a flag may have letters beyond ASCII, and signs are no letters', () => {
  const parameters = [{ name: 'öffentlich', type: 'bool', required: false }]
  expect(parseArguments(['--no-öffentlich'], parameters)).toEqual({ öffentlich: false })
  for (const word of ['--', '--3', '--a.b', '-öffentlich', '--→'])
    expect(() => parseArguments([word], parameters)).toThrow(`'${word}' is not a parameter`)
})
