import { expect, it } from 'vitest'
import { withParts } from '@sandbridge/core/cell/render'
import { linkPictures } from './link-pictures.ts'

const artifact = (name: string) => ({
  name,
  version: 1,
  sizeBytes: 4,
  contentType: 'image/png',
  sha256: '',
  createdAt: '',
  uri: `x:${name}`,
})

const shown = (...displays: Record<string, string>[]) =>
  withParts({ status: 'ok', stdout: '', stderr: '', displays, value: undefined, error: undefined, notes: [] } as never)

it('an image that is too large is named beside one that became an artifact', async () => {
  const small = { 'image/png': 'iVBORw==', 'text/plain': '<F>' }
  const large = { 'image/png': 'A'.repeat(5_000_004), 'text/plain': '<G>' }
  const { parts, displays, artifacts } = await linkPictures(shown(small, large), {
    save: (name) => Promise.resolve(artifact(name)),
  })
  const texts = parts.map(({ text }) => text)
  expect(texts).toContainEqual(expect.stringMatching(/is not shown: it has 5\.0 MB as base64/))
  expect(texts).toContainEqual(expect.stringContaining('It is the artifact image-0f4636c7.png'))
  expect(artifacts).toHaveLength(1)
  expect(displays).toEqual([{ 'text/plain': '<F>' }, { 'text/plain': '<G>' }])
})

it('an image that cannot be saved is not lost without a word', async () => {
  const save = () => Promise.reject(new Error('the disk is full'))
  const { parts, artifacts } = await linkPictures(shown({ 'image/png': 'iVBORw==' }), { save })
  expect(parts.map(({ text }) => text).filter(Boolean)).toEqual([
    'This client cannot show the image to you, and it was not saved: the disk is full',
  ])
  expect(artifacts).toEqual([])
})
