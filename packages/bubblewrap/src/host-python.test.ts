import { homedir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { holdsTooMuch } from './host-python.ts'

it.each(['/', '/home', '/home/', '/root', '/etc', '/tmp', '/var', homedir(), path.dirname(homedir()), process.cwd()])(
  'a Python installed in %s is refused, since too much would be visible in the sandbox',
  (folder) => {
    expect(holdsTooMuch(folder)).toBe(true)
  },
)

it.each(['/opt/python/3.14', path.join(homedir(), '.pyenv/versions/3.14.0'), path.join(process.cwd(), '.venv')])(
  'a Python in %s is used, since it has a folder of its own',
  (folder) => {
    expect(holdsTooMuch(folder)).toBe(false)
  },
)
