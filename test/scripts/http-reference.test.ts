import { expect, test } from 'vitest'
import { httpReference } from '../../scripts/site/http-reference.ts'
import { describe as described } from '../../src/gateway/http/openapi/openapi.ts'
import { endpointsOf } from '../../src/gateway/routes.ts'
import { TestGateway } from '../gateway/start.ts'

test('the reference of the site has every route with its responses, and no link to a schema that is missing', () => {
  const document = described(endpointsOf(new TestGateway({}).deps), '0')
  const page = httpReference(document)
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { summary }] of Object.entries(methods)) {
      const [, section = ''] = page.split(`\n## ${method.toUpperCase()} ${path} {#`)
      expect(section, `${method} ${path}`).toContain(summary)
      expect(section.split('\n## ')[0]).toMatch(/Response \d+: /)
    }
  const anchors = new Set(
    [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => `#${name.toLowerCase()}`),
  )
  const links = [...page.matchAll(/\]\((#[^)]+)\)/g)].map(([, link = '']) => link)
  expect(links.length).toBeGreaterThan(10)
  expect(links.filter((link) => !anchors.has(link))).toEqual([])
  expect(page).toContain('Errors:\n- 4')
  expect(page).toMatch(
    /\n## POST \/v1\/sessions \{[\s\S]+?Request: \[NewSession\]\(#newsession\) \(`application\/json`\)/,
  )
  expect(page).toMatch(/\n### NewSession\n[\s\S]+?\| `agent` \| string \| yes \| /)
})
