import { expect, it } from 'vitest'
import { containerCommand } from './server-pod.ts'

const read = (command: string, args: string[], env: Record<string, string> = {}) =>
  containerCommand({ type: 'stdio', command, args, env })

it('a command that runs an image with docker or podman is the image, its arguments and its variables', () => {
  const args = [
    'run',
    '-i',
    '--rm',
    '-e',
    'TOKEN',
    '--env',
    'MODE=a=b',
    '-e=OTHER',
    'ghcr.io/a/b:1',
    'serve',
    '-v',
    '--rm',
  ]
  expect(read('docker', args, { TOKEN: 't', OTHER: 'o', UNUSED: 'u' })).toEqual({
    image: 'ghcr.io/a/b:1',
    args: ['serve', '-v', '--rm'],
    environment: { TOKEN: 't', MODE: 'a=b', OTHER: 'o' },
  })
  expect(read('/usr/bin/podman', ['run', '--interactive', '--init', '--env=A=1', 'b'])).toEqual({
    image: 'b',
    args: [],
    environment: { A: '1' },
  })
})

it('a command that runs something else is not read as one that runs an image', () => {
  expect(read('npx', ['-y', 'docker', 'run', 'x'])).toBeUndefined()
  expect(read('docker', ['mcp', 'gateway', 'run'])).toBeUndefined()
})

it.each([
  [['run', '-i', '-v', '/home/ann:/data', 'a'], '-v'],
  [['run', '--network=host', 'a'], '--network'],
  [['run', '--privileged', 'a'], '--privileged'],
])('an option of a container engine that a pod does not have is refused by name, as in %j', (args, option) => {
  expect(read('docker', args)).toContain(`the option ${option}, which a pod does not have`)
})

it('a command that names no image is refused', () => {
  expect(read('docker', ['run', '-i', '-e', 'A'])).toContain('names no image')
})
