interface Named<Rule> {
  readonly type: string
  readonly rule: Rule
}

/**
 * Looks up a rule by a native type, which is untrusted input: the type "constructor" must not find an inherited
 * property. Selects by length first and then compares: few types have the same length, and a Map lookup of a newly
 * parsed string is slow.
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
