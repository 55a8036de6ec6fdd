// What a copy with probes calls, in each process that a test starts.
import fs from 'node:fs'

const noted = new Set()
let test = ''
let askedAt = -Infinity

/** Adds a line `ID TEST` to ran.txt in the folder: this test file runs the place ID. */
export function ran(id, folder) {
  // A process may live longer than a test file. Places in loops are passed often.
  if (performance.now() - askedAt > 20) {
    test = testOf(folder)
    askedAt = performance.now()
  }
  const line = `${id} ${test}\n`
  if (noted.has(line)) return
  noted.add(line)
  fs.appendFileSync(`${folder}/ran.txt`, line)
}

/** What the worker of vitest is at from which this process comes: it wrote that into a file named after its id. */
function testOf(folder) {
  let pid = fs.readlinkSync('/proc/self')
  while (Number(pid) > 1) {
    if (fs.existsSync(`${folder}/${pid}`)) return fs.readFileSync(`${folder}/${pid}`, 'utf8')
    pid = /\) . (\d+)/.exec(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]
  }
  return ''
}
