/** Bytes that an object, a list or one of their members adds to its text. */
const OVERHEAD = 16

/**
 * Estimates the bytes that a value takes in memory from its text and the number of its members. Much cheaper than
 * serialising it, and without recursion, because values of agents may be thousands of levels deep.
 */
export function contentSize(value: unknown): number {
  let size = 0
  const open: object[] = []
  // Only objects are put aside: most members are texts and numbers, and a list of them would be garbage at once.
  const add = (one: unknown) => {
    size += OVERHEAD
    if (typeof one === 'string') size += one.length
    else if (typeof one === 'object' && one !== null) open.push(one)
  }
  add(value)
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (Array.isArray(one) || one instanceof Set || one instanceof Map) for (const member of one) add(member)
    else for (const key in one) add(one[key as keyof typeof one])
  }
  return size
}
