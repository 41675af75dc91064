import { expect, test } from 'vitest'
import { sitesIn } from '../../scripts/mutate/sites.ts'

const textsOf = (body: string) => sitesIn('x.ts', `function f(a) { ${body} }`).map(({ text }) => text)

test('a comparison with an approval is also changed to one that fails open', () => {
  expect(textsOf("return a === 'allow'")).toContain("(a) !== 'deny'")
  expect(textsOf("return a !== 'allow'")).toContain("(a) === 'deny'")
  expect(textsOf("return a === 'other'")).not.toContain("(a) !== 'deny'")
})
