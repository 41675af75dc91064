/** The day of a time in milliseconds since 1970, in UTC. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
