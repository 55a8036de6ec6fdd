// @module-tag whole: podman.test.ts asks the same through a socket
import { testContainerProvider } from './container-contract.ts'

testContainerProvider('docker', true)
