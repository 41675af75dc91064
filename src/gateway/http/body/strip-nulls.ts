/** Treats `null` as absent, because some clients serialise optional fields as `null`. */
export function stripNulls(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}
