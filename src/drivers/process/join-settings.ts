import { tryJson } from '../../model/text/json.ts'

/**
 * Joins two settings, each a JSON object as text. Where both have a field, objects are joined, lists at the top are
 * appended, and any other value is the one of `own`. A text that is no JSON object is replaced by `own`.
 */
export function joinSettings(given: string, own: string): string {
  const [base, top] = [tryJson(given), tryJson(own)]
  if (!isObject(base) || !isObject(top)) return own
  const all = joinObjects(base, top)
  for (const [field, value] of Object.entries(top)) {
    const before = Object.hasOwn(base, field) ? base[field] : undefined
    if (Array.isArray(before) && Array.isArray(value)) all[field] = [...before, ...value]
  }
  return JSON.stringify(all)
}

function joinObjects(base: Record<string, unknown>, top: Record<string, unknown>): Record<string, unknown> {
  const all = new Map(Object.entries(base))
  for (const [field, value] of Object.entries(top)) {
    const before = all.get(field)
    all.set(field, isObject(before) && isObject(value) ? joinObjects(before, value) : value)
  }
  return Object.fromEntries(all)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
