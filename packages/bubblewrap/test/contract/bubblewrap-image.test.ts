// @module-tag whole: bubblewrap.test.ts asks the same without an image
import { testBubblewrap } from './bubblewrap-contract.ts'

testBubblewrap('bubblewrap-image')
