// What packages use of util/text.
export { ago, count, shortNumber, firstOf, listText, sandboxName } from './count.ts'
export { didYouMean, didYouMeanText, editDistance, nearestName } from './did-you-mean.ts'
export { fitsGlob } from './glob.ts'
export {
  firstSentence,
  lastLine,
  oneLine,
  paragraphs,
  cleanWords,
  isPlainlySeen,
  onOneLine,
  shortened,
  shortName,
} from './server-words.ts'
export { byCodeUnit, foldName, isPlainIdentifier } from './python-name.ts'
export { parsePythonLiteral } from './python-value.ts'
export { plainText, shownText, TerminalText } from './terminal-text.ts'
export { textName } from './text-name.ts'
export { INVISIBLE, visible, visibleInline, withVisibleBlanks } from './visible.ts'
