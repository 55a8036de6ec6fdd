import { expect, it } from 'vitest'
import { describeExit } from '../../cell/kernel/channel.ts'
import { explainEnd, reasonOf } from './spawn-sandbox.ts'

const end = { code: null, signal: null, stderr: '', spoke: true } as const

it.each([
  [
    'V8 says so',
    { ...end, code: 134, stderr: 'FATAL ERROR: Allocation failed - JavaScript heap out of memory' },
    'out-of-memory',
  ],
  ['Python’s half says so', { ...end, signal: 'SIGKILL', stderr: 'sandbridge: out of memory\n' }, 'out-of-memory'],
  [
    'a stack that overflowed',
    { ...end, signal: 'SIGKILL', stderr: 'sandbridge: Python crashed: recursion too deep\n' },
    'stack-overflow',
  ],
  ['a native crash without a word', { ...end, signal: 'SIGTRAP' }, 'out-of-memory'],
  ['the same behind bubblewrap', { ...end, code: 128 + 5 }, 'out-of-memory'],
  ['the same on Windows', { ...end, code: 0x8000_0003 }, 'out-of-memory'],
  ['the end of the kernel', { ...end, signal: 'SIGKILL', stderr: 'sandbridge: the kernel ended\n' }, 'exited'],
  ['the same behind bubblewrap', { ...end, code: 137, stderr: 'sandbridge: the kernel ended\n' }, 'exited'],
  ['a kill from outside', { ...end, signal: 'SIGKILL' }, 'killed'],
  ['the same behind bubblewrap', { ...end, code: 137 }, 'killed'],
  ['no word at all', { ...end, code: 1, spoke: false }, 'failed-to-start'],
  ['an ordinary exit', { ...end, code: 3 }, 'exited'],
] as const)('the reason for the end of an embedded sandbox is found: %s', (_, given, reason) => {
  expect(reasonOf(given)).toBe(reason)
})

it.each([
  ['by itself', { code: null, signal: 'SIGKILL' }],
  ['behind bubblewrap', { code: 137, signal: null }],
] as const)('a cell that ends its embedded Python reads the same whether the process runs %s', (_, how) => {
  const exit = { ...how, ...explainEnd({ ...end, ...how, stderr: 'sandbridge: the kernel ended\n' }) }
  expect(describeExit(exit)).toBe('Python exited')
})

it('an end by an assertion of Node is told without its native stack', () => {
  const stderr = '#  Assertion failed: f(t)\n\n----- Native stack trace -----\n\n 1: 0xcb5167 node::Assert'
  expect(explainEnd({ ...end, spoke: false, stderr }).detail).toBe('#  Assertion failed: f(t)')
})
