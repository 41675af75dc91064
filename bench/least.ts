/**
 * Returns the smallest of several measurements of the same work, because other load on the machine can only add
 * processor time.
 */
export function least(measured: readonly number[]): number {
  return Math.min(...measured)
}
