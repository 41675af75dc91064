/**
 * Of several measurements of the same work the one that was disturbed least: whatever else a machine does can only
 * add to the processor time of a process.
 */
export function least(measured: readonly number[]): number {
  return Math.min(...measured)
}
