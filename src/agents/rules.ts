/**
 * Looks a rule up by a native type. A Map and not an object: native types are outside input, and one that is called
 * "constructor" must not find what every object has.
 */
export function ruleTable<Rule>(rules: Readonly<Record<string, Rule>>): (type: unknown) => Rule | undefined {
  const table = new Map<unknown, Rule>(Object.entries(rules))
  // Streams repeat themselves: comparing with the last type is ten times cheaper than hashing a fresh string.
  let lastType: unknown
  let lastRule: Rule | undefined
  return (type) => {
    if (type !== lastType) {
      lastRule = table.get(type)
      lastType = type
    }
    return lastRule
  }
}
