/** Characters of a title. */
const TITLE_CHARS = 120

/** Half of a character that has two code units. */
const CUT_CHARACTER = /[\ud800-\udbff]$/

/** The title of a session whose agent gives it none: the beginning of its first prompt, on one line. */
export function promptTitle(prompt: string): string | undefined {
  // Not all of a long prompt is looked at.
  const line = prompt
    .slice(0, 10 * TITLE_CHARS)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const title = line.slice(0, TITLE_CHARS).replace(CUT_CHARACTER, '')
  return title === '' ? undefined : title
}
