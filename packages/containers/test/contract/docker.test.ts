import { testContainerProvider } from './container-contract.ts'

testContainerProvider('docker')
