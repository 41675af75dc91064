/** Clients in languages that write down what is absent send `null` for it: such a field was not given. */
export function stripNulls(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}
