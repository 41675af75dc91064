import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ChildKeys, OutputPosition, RunContext } from '../../../src/drivers/driver.ts'
import { driver } from '../../../src/drivers/index.ts'
import { contextOf, expectNothingLeft, QUICK } from '../fake-run.ts'
import { fakeServer, Heard } from './server-runs.ts'

afterEach(expectNothingLeft)

interface Owner {
  readonly made: ReturnType<typeof driver>
  readonly heard: Heard
}

function owner(spool: string) {
  const made = driver({ graces: QUICK, spool })
  if (!made.lasting) throw new Error('runs do not outlive this driver')
  return { made, lasting: made.lasting }
}

/** A server that was left by its first owner, who had made one call. */
async function left(launch = fakeServer('plain'), more: Partial<RunContext> = {}) {
  const spool = join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
  const context = { ...contextOf(), ...more }
  const first = owner(spool)
  first.lasting.prepare(context.runId, 1)
  const run = first.made.start(launch, { ...context, lasting: { input: 'open' } })
  const heard: Owner = { made: first.made, heard: new Heard(run) }
  await heard.heard.until('server.connected')
  await heard.heard.answer('/log')
  const position: OutputPosition = { stdout: 0, stderr: 0, ...run.lasting?.position }
  await run.lasting?.leave()
  return { spool, context, position, run, next: owner(spool).lasting, folder: join(spool, context.runId) }
}

test('a server lives on without its owner, and the next one gets a stream and answers', async () => {
  const { next, context, position, run } = await left()
  expect(position).toMatchObject({ calls: 1 })
  expect((await next.left()).get(context.runId)).toMatchObject({ isStarted: true })
  const again = new Heard(next.attach(context.runId, position, context))
  await again.until('server.connected')
  expect(await again.answer('/log')).toMatchObject({ requests: expect.arrayContaining(['GET /log']) })
  expect(again.run.pid).toBe(run.pid)
  expect(again.run.lasting?.position).toMatchObject({ calls: 2 })
  await again.run.stop()
  await again.ended
  await next.remove(context.runId)
})

test('a call whose answer was never committed is in doubt, one that was never begun is not', async () => {
  const { next, context, position } = await left()
  // The first owner has committed nothing.
  expect(next.written(context.runId)).toEqual({ done: 0, bytes: 0, doubtful: 1 })
  const again = new Heard(next.attach(context.runId, position, context))
  await again.until('server.connected')
  void again.run.write({ kind: 'http', method: 'GET', path: '/never' })
  await expect.poll(() => next.written(context.runId)).toMatchObject({ doubtful: 2 })
  await again.run.lasting?.leave()
  expect(again.run.lasting?.position).toMatchObject({ calls: 1 })
  await next.terminate(context.runId)
  await next.remove(context.runId)
})

test('a call that is only counted is not made', async () => {
  const { next, context, position } = await left()
  const again = new Heard(next.attach(context.runId, position, context))
  await again.run.lasting?.skip()
  await again.answer('/log')
  expect(again.run.lasting?.position).toMatchObject({ calls: 3 })
  await next.terminate(context.runId)
  await next.remove(context.runId)
})

test('a server that ended without an owner is reported with its exit code', async () => {
  const { next, context, position } = await left()
  const second = next.attach(context.runId, position, context)
  const heard = new Heard(second)
  await heard.until('server.connected')
  await second.write({ kind: 'http', method: 'GET', path: '/die' })
  expect(await second.exit).toMatchObject({ code: 7 })
  await next.remove(context.runId)
})

test('its login is readable by its user only, and masked for every owner', async () => {
  const given: ChildKeys[] = []
  const { next, context, position, folder } = await left(fakeServer('plain'), {
    protect: (keys) => void given.push(keys),
  })
  expect(statSync(join(folder, 'server.json')).mode & 0o777).toBe(0o600)
  const keys = next.keys(context.runId)
  expect(keys?.login).toEqual(given[0]?.login)
  expect(keys?.environment).not.toHaveProperty('OPENCODE_SERVER_PASSWORD')
  const again = new Heard(next.attach(context.runId, position, context))
  await again.until('server.connected')
  const { value } = await (async () => {
    void again.run.write({ kind: 'http', method: 'GET', path: '/leak', tag: 'leak' })
    return again.until('"tag":"leak"')
  })()
  expect(JSON.stringify(value)).toContain('[masked:')
  for (const secret of keys?.login ?? []) expect(JSON.stringify(again.frames)).not.toContain(secret)
  await next.terminate(context.runId)
  await next.remove(context.runId)
})

test('a server that ends with its input is asked to end by a signal', async () => {
  const { next, context, position } = await left({ ...fakeServer('plain'), endsWithInput: true })
  const again = next.attach(context.runId, position, context)
  const heard = new Heard(again)
  await heard.until('server.connected')
  await again.write({ kind: 'end' })
  expect(await again.exit).toMatchObject({ signal: 'SIGTERM' })
  await next.remove(context.runId)
})
