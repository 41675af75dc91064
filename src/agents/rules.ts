interface Found<Rule> {
  readonly type: unknown
  readonly rule: Rule | undefined
}

/**
 * Looks a rule up by a native type. A Map and not an object: native types are outside input, and one that is called
 * "constructor" must not find what every object has.
 */
export function ruleTable<Rule>(rules: Readonly<Record<string, Rule>>): (type: unknown) => Rule | undefined {
  const table = new Map<unknown, Rule>(Object.entries(rules))
  // Streams repeat or alternate: comparing with the last types is ten times cheaper than hashing a fresh string.
  let last: Found<Rule> = { type: undefined, rule: undefined }
  let before = last
  return (type) => {
    if (type === last.type) return last.rule
    const found = type === before.type ? before : { type, rule: table.get(type) }
    before = last
    last = found
    return found.rule
  }
}
