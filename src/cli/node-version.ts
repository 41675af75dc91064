/** The oldest supported Node: it has `node:sqlite` without a flag. */
const OLDEST = { major: 22, minor: 13 }

/** The error for a Node that is too old; undefined if it is supported. */
export function nodeComplaint(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined
  return `mainstem needs Node ${OLDEST.major}.${OLDEST.minor} or newer, and this is ${version}`
}
