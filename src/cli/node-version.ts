/** The oldest Node that can run us: the one that has `node:sqlite` without a flag. */
const OLDEST = { major: 22, minor: 13 }

/** What to tell somebody whose Node is too old; nothing when it will do. */
export function nodeComplaint(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined
  return `mainstem needs Node ${OLDEST.major}.${OLDEST.minor} or newer, and this is ${version}`
}
