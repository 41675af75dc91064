import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { wire } from '../../src/compose/wire.ts'
import { processDriver } from '../../src/drivers/process.ts'
import { contextOf, expectNothingLeft, readAll } from '../drivers/fake-run.ts'
import { sharedMemoryStore } from '../stores/shared-memory.ts'

afterEach(expectNothingLeft)

test('a node that was closed ends no agent of another server in its process', async () => {
  const terms = { owner: 'n1', ttlMs: 20 }
  const node = wire({ store: sharedMemoryStore(), node: { terms, mayRun: () => true } })
  await node.sessions.create({ agent: 'echo', cwd: tmpdir(), principal: 'local' })
  await node[Symbol.asyncDispose]()
  // Longer than a sweep takes to start and to find it.
  const argv = ['/bin/sleep', '2'] as const
  const run = processDriver().start({ kind: 'process', argv, env: {}, passEnv: [] }, contextOf())
  await readAll(run)
  expect(await run.exit).toEqual({ code: 0 })
})
