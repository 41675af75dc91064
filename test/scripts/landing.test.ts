import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { landing } from '../../scripts/site/landing.ts'

it('the landing page has the first paragraph of the docs as its hero, and everything below it', () => {
  const text = readFileSync('docs/index.md', 'utf8')
  const [, head = '', body = ''] = landing(text, 'One "stream": all agents.').split('---\n')
  const { layout, hero } = JSON.parse(head)
  expect(layout).toBe('home')
  expect(hero.text).toBe('One "stream": all agents.')
  expect(text).toContain(`\n\n${hero.tagline}\n\n`)
  expect(text.endsWith(body.trimStart())).toBe(true)
  expect(body).toContain('](demo.svg)')
  expect(body).toContain('](images/parts.svg)')
  expect(body).toContain('## The story of one approval')
})

it('a first page that begins otherwise is refused', () => {
  expect(() => landing('## Start\n', '')).toThrow('docs/index.md')
})
