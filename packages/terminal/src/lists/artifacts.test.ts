import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ProjectStore } from '../../../memories/src/project-store.ts'
import { artifacts } from './artifacts.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('`sandbridge artifacts` lists the files of /projects where no cell has saved an artifact, and writes one into a file', async () => {
  const stateDir = newFolder()
  const written: string[] = []
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  vi.stubEnv('MCP_BRIDGE_STATE_DIR', stateDir)
  onTestFinished(() => write.mockRestore())
  const { folder } = new ProjectStore(stateDir)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'notes.md'), 'twelve bytes')
  await artifacts(undefined, undefined, {})
  expect(written.join('')).toMatch(/^\/projects, kept in .*:\n\/projects\/notes\.md +12 bytes/)
  const copy = path.join(stateDir, 'copy.md')
  await artifacts('/projects/notes.md', undefined, { output: copy })
  expect(readFileSync(copy, 'utf8')).toBe('twelve bytes')
  expect(written.join('')).not.toContain('twelve bytes')
})
