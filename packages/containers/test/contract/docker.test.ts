// @module-tag whole: podman.test.ts asks the same
import { testContainerProvider } from './container-contract.ts'

testContainerProvider('docker')
