import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { VERSION } from '../../util/package-root.ts'
import { PackageNews } from '../../bridge/cells/cell-news.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it('a result says once that another version has been installed, whatever leads to it', () => {
  const folder = newFolder()
  const place = path.join(folder, 'lib/sandbridge')
  const install = (version: string, name = 'sandbridge'): void => {
    rmSync(place, { recursive: true, force: true })
    mkdirSync(path.join(place, 'dist'), { recursive: true })
    writeFileSync(path.join(place, 'dist/cli.js'), '')
    writeFileSync(path.join(place, 'package.json'), JSON.stringify({ name, version }))
  }
  const link = path.join(folder, 'sandbridge')
  install(VERSION)
  symlinkSync(path.join(place, 'dist/cli.js'), link)
  const [news, other] = [new PackageNews(link), new PackageNews(link)]
  expect(news.next()).toEqual([])
  rmSync(place, { recursive: true })
  expect(news.next()).toEqual([])
  install('9.9.9', 'another')
  expect(news.next()).toEqual([])
  install('9.9.9')
  expect(news.next()).toEqual([expect.stringMatching(/^Sandbridge 9\.9\.9 has been installed, .* restart the client/)])
  install('9.9.8')
  expect(news.next()).toEqual([])
  // A downgrade, for another client.
  install('0.0.1')
  expect(other.next()).toEqual([expect.stringContaining('Sandbridge 0.0.1 has been installed')])
  expect(new PackageNews(undefined).next()).toEqual([])
})
