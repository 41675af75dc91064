/** Compares two versions; negative if `a` is older than `b`. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0)
}

/** The numbers, then 1 for a release and 0 for a pre-release. */
function partsOf(version: string): number[] {
  const [core = '', preRelease] = version.split(/-(.*)/s)
  return [...core.split('.').map((part) => Number.parseInt(part, 10)), preRelease === undefined ? 1 : 0]
}
