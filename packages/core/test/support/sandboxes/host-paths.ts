// A machine of each platform, for tests of file locations.
import type { HostPaths } from '../../../src/config/readers/reader.ts'

export const linux: HostPaths = {
  platform: 'linux',
  home: '/home/ann',
  cwd: '/home/ann/app',
  env: {},
  stateDir: '/home/ann/MCPs',
  serversConfig: [],
}

export const mac: HostPaths = {
  ...linux,
  platform: 'darwin',
  home: '/Users/ann',
  cwd: '/Users/ann/app',
  stateDir: '/Users/ann/MCPs',
}

export const windows: HostPaths = {
  ...linux,
  platform: 'win32',
  home: 'C:\\Users\\ann',
  cwd: 'C:\\Users\\ann\\app',
  stateDir: 'C:\\Users\\ann\\MCPs',
  env: { APPDATA: 'C:\\Users\\ann\\AppData\\Roaming' },
}
