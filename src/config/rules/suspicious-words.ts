// Finds text in a tool's description that is hidden from people, or that addresses the model instead of describing the
// tool. The result is only a remark for the user: an attacker can always find words that are not listed here. Pure.

const TO_THE_MODEL = [
  /\b(ignore|disregard|forget)\b.{0,40}\b(previous|prior|above|earlier|other|all)\b/i,
  /\b(do not|don't|never)\b.{0,30}\b(tell|inform|mention|show|reveal|ask)\b.{0,20}\b(the )?user\b/i,
  /\b(always|must)\b.{0,30}\b(say|answer|reply|choose|confirm)\b.{0,15}\b(yes|approve|allow|accept)/i,
  /\byou (must|should|are|have to)\b.{0,60}\b(before|instead of|first call|always call)\b/i,
  /<\s*\/?\s*(important|system|instructions?|secret)\b[^>]*>/i,
]
const MAX_CHARS = 200_000

/**
 * Returns a short phrase for each kind of suspicious text.
 * @param hasHidden whether invisible characters were removed from the text
 */
export function suspiciousWords(text: string, hasHidden: boolean): string[] {
  const looked = text.slice(0, MAX_CHARS)
  const said = TO_THE_MODEL.map((pattern) => pattern.exec(looked)?.[0]).find((found) => found !== undefined)
  return [
    ...(hasHidden ? ['had invisible characters, which were removed'] : []),
    ...(said === undefined ? [] : [`addresses the model: ${JSON.stringify(said.slice(0, 100))}`]),
  ]
}
