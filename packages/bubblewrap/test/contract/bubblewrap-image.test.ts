import { testBubblewrap } from './bubblewrap-contract.ts'

testBubblewrap('bubblewrap-image')
