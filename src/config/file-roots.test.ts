import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { fileRoots } from './file-roots.ts'

function roots(command: string, ...args: string[]): string[] {
  return fileRoots({
    name: 'files',
    transport: { type: 'stdio', command, args, env: {} },
    source: { client: 'test', file: 'test' },
  })
}

it('the folders among the arguments of a server are recognised, and nothing else is', () => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'roots-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  expect(roots('npx', '-y', '@modelcontextprotocol/server-filesystem', folder, `${folder}/missing`)).toEqual([folder])
  expect(roots('mcp-server-git', '--repository', folder)).toEqual([folder])
  expect(roots('files', `--root=${folder}`)).toEqual([folder])
  expect(roots('npx', '-y', folder)).toEqual([folder])
  // The server's own folder, a program, a secret.
  expect(roots('uv', '--directory', folder, 'run', 'server')).toEqual([])
  expect(roots('files', `--cache-dir=${folder}`, '--token', '/secret')).toEqual([])
  expect(roots('node', process.execPath, 'relative', '/a\0b', '${workspaceFolder}')).toEqual([])
})
