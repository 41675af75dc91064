import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nodeComplaint } from '../../../src/cli/node-version.ts'

it.each(['18.20.0', '20.20.2', '22.12.9', '22.2.0'])(
  'Node %s is too old, and the way out is one line',
  (version) => {
    expect(nodeComplaint(version)).toBe(`mainstem needs Node 22.13 or newer, and this is ${version}`)
  },
)

it.each(['22.13.0', '22.100.0', '24.0.0', '26.10.0', '23.0.0-nightly', process.versions.node])(
  'Node %s will do',
  (version) => {
    expect(nodeComplaint(version)).toBeUndefined()
  },
)

it('the package states the same version', () => {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(engines.node).toBe('>=22.13')
  expect(nodeComplaint('0.0.0')).toContain('22.13')
})
