import { mkdirSync, realpathSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { fileRoots } from './file-roots.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

function roots(command: string, ...args: string[]): string[] {
  const transport = { type: 'stdio' as const, command, args, env: {} }
  return fileRoots({ name: 'files', transport, source: { client: 'test', file: 'test' } }, homedir())
}

it('the folders among the arguments of a server are recognised, and nothing else is', () => {
  const folder = realpathSync(newFolder())
  expect(roots('npx', '-y', '@modelcontextprotocol/server-filesystem', folder, `${folder}/missing`)).toEqual([folder])
  expect(roots('mcp-server-git', '--repository', folder)).toEqual([folder])
  expect(roots('files', `--root=${folder}`)).toEqual([folder])
  // The server's own folder, a program, a secret.
  expect(roots('npx', '-y', folder)).toEqual([])
  expect(roots('uv', '--directory', folder, 'run', 'server')).toEqual([])
  expect(roots('files', `--cache-dir=${folder}`, '--token', '/secret')).toEqual([])
  expect(roots('node', process.execPath, 'relative', '/a\0b', '${workspaceFolder}')).toEqual([])
})

it('the folders of a wrapper are not those that its server serves', () => {
  const folder = realpathSync(newFolder())
  const server = ['npx', '-y', '@modelcontextprotocol/server-filesystem', folder]
  const walls = ['--ro-bind', tmpdir(), tmpdir(), '--proc', '/proc', '--bind', path.dirname(folder), '/work']
  expect(roots('bwrap', ...walls, ...server)).toEqual([folder])
  expect(roots('bwrap', ...walls, '--', '/usr/bin/mcp-files', folder)).toEqual([folder])
  expect(roots('env', '-u', 'A', 'B=c', ...server)).toEqual([folder])
  expect(roots('uv', '--directory', path.dirname(folder), 'run', 'files', folder)).toEqual([folder])
  // It cannot be told where the program of these begins, or what it sees.
  expect(roots('bwrap', ...walls, '/usr/bin/mcp-files', folder)).toEqual([])
  expect(roots('docker', 'run', '-v', `${folder}:${folder}`, 'mcp/files', folder)).toEqual([])
  expect(roots('sh', '-c', `cd ${folder} && exec "$@"`, folder, ...server)).toEqual([])
})

it('a server serves no folder of the system, and three at most are named', () => {
  const folder = realpathSync(newFolder())
  const folders = ['a', 'b', 'c', 'd'].map((name) => path.join(folder, name))
  for (const one of folders) mkdirSync(one)
  expect(roots('files', '/', '/usr', '/bin', '/usr/lib', '/etc', ...folders)).toEqual(folders.slice(0, 3))
})
