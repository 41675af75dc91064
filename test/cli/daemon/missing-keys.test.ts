import { expect, test } from 'vitest'
import { missingKeys } from '../../../src/cli/daemon/missing-keys.ts'
import { readiness } from '../../../src/compose/readiness.ts'

const PATH = '/nowhere'

/** A server that was started with this environment. */
const serverWith = (environment: Record<string, string>) => ({
  agents: async () => {
    const found = await readiness({ only: ['pi'], environment })
    return found.map(({ sessions: _, ...agent }) => agent)
  },
})

test('a key that was set after the server was started is named, with the way out', async () => {
  const server = serverWith({ PATH, OPENAI_API_KEY: 'old' })
  const here = { PATH, OPENAI_API_KEY: 'old', ANTHROPIC_API_KEY: 'secret' }
  const words = await missingKeys(server, 'pi', here)
  expect(words).toMatch(/^ANTHROPIC_API_KEY is set here, .* daemon stop/)
  expect(words).not.toContain('secret')
})

test('a server that has the keys of this terminal needs nothing', async () => {
  const keys = { PATH, ANTHROPIC_API_KEY: 'secret' }
  expect(await missingKeys(serverWith(keys), 'pi', keys)).toBeUndefined()
  expect(await missingKeys(serverWith(keys), 'pi', { PATH })).toBeUndefined()
})
