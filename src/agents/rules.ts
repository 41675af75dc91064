interface Named<Rule> {
  readonly type: string
  readonly rule: Rule
}

/**
 * Looks a rule up by a native type, which is outside input: one that is called "constructor" must not find what every
 * object has. By its length first, and then by comparing: few types are equally long, and to look up a string that was
 * just read in a Map, the engine has to file it first.
 */
export function ruleTable<Rule>(rules: Readonly<Record<string, Rule>>): (type: unknown) => Rule | undefined {
  const named = Object.entries(rules).map(([type, rule]): Named<Rule> => ({ type, rule }))
  const longest = Math.max(...named.map(({ type }) => type.length))
  const byLength = Array.from({ length: longest + 1 }, (_, length) =>
    named.filter(({ type }) => type.length === length),
  )
  return (type) => {
    const alike = typeof type === 'string' ? byLength[type.length] : undefined
    if (alike) for (const { type: one, rule } of alike) if (one === type) return rule
    return undefined
  }
}
