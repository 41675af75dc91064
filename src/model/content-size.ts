/** Bytes that an object, a list or one of their members adds to its text. */
const OVERHEAD = 16

/**
 * Estimates the bytes that a value takes in memory from its text and the number of its members. Much cheaper than
 * serialising it, and without recursion, because values of agents may be thousands of levels deep.
 */
export function contentSize(value: unknown): number {
  let size = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const one = open.pop()
    size += OVERHEAD
    if (typeof one === 'string') size += one.length
    else if (Array.isArray(one) || one instanceof Set || one instanceof Map)
      for (const member of one) open.push(member)
    else if (typeof one === 'object' && one !== null)
      for (const member of Object.values(one)) open.push(member)
  }
  return size
}
