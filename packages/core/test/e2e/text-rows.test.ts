// This file verifies rows of texts with the published file server, which returns all its listings as texts.
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { published } from '../support/bridges/bridge-process.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

it('a cell processes the files that a listing names, and later searches show what a listing holds', async () => {
  const folder = realpathSync(newFolder())
  mkdirSync(path.join(folder, 'more'))
  writeFileSync(path.join(folder, 'a.txt'), 'one\ntwo')
  writeFileSync(path.join(folder, 'b.txt'), 'three')
  writeFileSync(path.join(folder, 'c.md'), '# no')
  writeFileSync(path.join(folder, 'e.png'), Buffer.from('iVBORw0KGgo=', 'base64'))
  writeFileSync(path.join(folder, 'd.json'), '{"left": 3}')
  const bridge = await startBridge({ servers: { filesystem: published.filesystem(folder) } })
  const code = `
folder = ${JSON.stringify(folder)}
listed = await mcp_filesystem.list_directory(path=folder)
total = 0
for row in listed.rows:
    if row.name.endswith(".txt"):
        content = await mcp_filesystem.read_text_file(path=f"{folder}/{row.name}")
        total += len(content.split("\\n"))
print(total, [row.name for row in listed.rows if row.type == "DIR"], "[FILE] a.txt" in listed)`
  expect(await bridge.run(code)).toBe("3 ['more'] True")
  expect(await bridge.run('runtime.json(await mcp_filesystem.read_text_file(path=f"{folder}/d.json")).left')).toMatch(
    /^3\n\[kernel: /,
  )
  expect(await bridge.run('(await mcp_filesystem.get_file_info(path=f"{folder}/a.txt")).rows[0].size')).toBe("'7'")
  const sizes =
    '[row["size"] for row in (await mcp_filesystem.list_directory_with_sizes(path=folder)).rows if "size" in row]'
  expect(await bridge.run(sizes)).toBe("['7 B', '5 B', '4 B', '11 B', '8 B']")
  const docs = await bridge.run(
    'print(await runtime.query_tool_docs("filesystem", tools=["list_directory", "read_text_file", "read_media_file"]))',
  )
  expect(docs).toMatch(/list_directory\(.*-> Text\[\{type: str, name: str\}\]  # observed/)
  expect(docs).toMatch(/read_media_file\(.*-> list\[Media \|/)
  // What its schema says: the next file may be another.
  expect(docs).toMatch(/read_text_file\(.*-> str  #/)
  const image = await bridge.call({
    code: `v = await mcp_filesystem.read_media_file(path=f"{folder}/e.png")\nprint(v, type(v[0].data))\nv`,
  })
  expect(image.text).toContain("[<image/png, 8 bytes>] <class 'bytes'>")
  expect(image.content).toContainEqual({ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' })
  writeFileSync(path.join(folder, 'large.txt'), 'x'.repeat(34e6))
  expect(await bridge.run('await mcp_filesystem.read_text_file(path=f"{folder}/large.txt")')).toContain(
    'Parameters of mcp_filesystem.read_text_file that may make it smaller: tail, head.',
  )
})
