// @module-tag whole: bubblewrap.test.ts asks the same of sandboxes that are not forked
import { testBubblewrap } from './bubblewrap-contract.ts'

testBubblewrap('bubblewrap-fork')
