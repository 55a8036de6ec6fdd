// Where file systems are mounted that can be written to. An engine that mounts a folder read-only leaves those inside it as they are.
import { readFile } from 'node:fs/promises'

/** Mount points of this machine, without those that are read-only. Empty where there is no /proc. */
export async function writableMountPoints(): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  return table
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , , , point, options]) => point?.startsWith('/') && options?.split(',').includes('rw'))
    .map(([, , , , point = '']) =>
      point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    )
}
