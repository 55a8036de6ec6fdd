import { testContainerProvider } from './container-contract.ts'

testContainerProvider('podman')
