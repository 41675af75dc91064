import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { loadConfig } from '../../src/daemon/config.ts'
import { backup, restore } from '../../src/daemon/copy-store.ts'
import { examine } from '../../src/daemon/doctor.ts'
import { serve } from '../../src/daemon/serve.ts'
import type { Server } from '../../src/daemon/server.ts'
import type { Entry } from '../../src/model/index.ts'
import { newSchema } from '../postgres/database.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'backup-')))
})
afterEach(() => rmSync(home, { recursive: true }))

async function start(name: string, store?: string) {
  const data = join(home, name)
  const flags = { port: 0, data, cwd: home, auth: false, ...(store !== undefined && { store }) }
  const config = await loadConfig({ flags, environment: { MAINSTEM_HOME: home }, cwd: home })
  const server = await serve({ config, report: () => undefined })
  return { server, client: new MainstemClient({ baseUrl: server.url }) }
}

/** The log of a session as it was sent. */
async function logOf(client: MainstemClient, id: string): Promise<string[]> {
  const log: string[] = []
  for (let after = 0; ; ) {
    const { entries = [] } = await client.page(id, { after, limit: 1000 })
    log.push(...entries.map((entry) => JSON.stringify(entry)))
    const last = entries.at(-1)
    if (!last) return log
    after = last.seq
  }
}

/** The restored server closes the turn that was open and may run queued prompts; it does nothing else. */
function expectRecovery(prefix: readonly string[], added: readonly string[]): void {
  const turns = (lines: readonly string[], type: 'turn.started' | 'turn.completed') =>
    lines.flatMap((line) => {
      const { event }: Entry = JSON.parse(line)
      return event.type === type ? [event.turn] : []
    })
  const begun = turns(prefix, 'turn.started')
  const [open] = begun.filter((turn) => !turns(prefix, 'turn.completed').includes(turn))
  const more = turns(added, 'turn.started')
  expect(more.filter((turn) => begun.includes(turn))).toEqual([])
  if (open !== undefined) expect(turns(added, 'turn.completed')[0]).toBe(open)
  if (open === undefined && more.length === 0) expect(added).toEqual([])
}

async function untilIdle(client: MainstemClient, id: string): Promise<void> {
  await expect.poll(async () => (await client.session(id)).status, { timeout: 20_000 }).toBe('idle')
}

/** A cursor of the stream of all sessions, taken from its first message with an id. */
async function feedCursor({ url }: Server): Promise<string> {
  const headers = { accept: 'text/event-stream' }
  const { body } = await fetch(`${url}/v1/events`, { headers })
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const [, cursor] = /^id: (\S+)\n/m.exec(text) ?? []
    if (cursor !== undefined) return cursor
  }
  throw new Error('the stream ended without a cursor')
}

const KINDS = ['sqlite', 'postgres'] as const

test.each(KINDS.flatMap((from) => KINDS.map((to) => [from, to] as const)))(
  'a backup of %s during turns, restored into %s, has every session',
  async (from, to) => {
    const url = from === 'postgres' ? await newSchema() : undefined
    const original = await start('original', url)
    const { client } = original
    const quiet = []
    for (const prompt of ['one', 'two']) {
      const { id } = await client.begin({ agent: 'echo', prompt })
      await untilIdle(client, id)
      quiet.push({ id, log: await logOf(client, id) })
    }
    const cursor = quiet[0]?.log.length ?? 0
    let isOver = false
    const busy: string[] = []
    // Prompts arrive until the backup has ended, in old and in new sessions.
    const load = (async () => {
      const { id: old } = await client.begin({ agent: 'echo', prompt: 'old' })
      busy.push(old)
      while (!isOver) {
        await client.prompt(old, 'again')
        busy.push((await client.begin({ agent: 'echo', prompt: 'new' })).id)
      }
    })()
    await expect.poll(() => busy.length).toBeGreaterThan(2)
    const folder = join(home, 'backup')
    const heads = new Map<string, number>()
    for (const { id, head } of (await client.sessions({ limit: 500 })).sessions) heads.set(id, head)
    const summary = await backup(url ?? join(home, 'original'), folder, {})
    const feed = await feedCursor(original.server)
    isOver = true
    await load
    expect(summary).toMatchObject({ outcome: 'copied' })
    expect(summary.sessions).toBeGreaterThanOrEqual(4)
    const target = to === 'postgres' ? await newSchema() : undefined
    const place = target ?? join(home, 'restored')
    await restore(folder, place, {})
    const restoredAt = Date.now()
    const restored = await start('restored', target)
    const { sessions } = await restored.client.sessions({ limit: 500 })
    expect(sessions).toHaveLength(summary.sessions)
    for (const { id, log } of quiet) expect(await logOf(restored.client, id)).toEqual(log)
    for (const { id } of sessions) {
      const [whole, copied] = [await logOf(client, id), await logOf(restored.client, id)]
      const prefix = copied.filter((line) => JSON.parse(line).at < restoredAt)
      // What the backup had is exact and has everything from before it; only the restored server wrote after it.
      expect(copied.slice(0, prefix.length)).toEqual(whole.slice(0, prefix.length))
      expect(prefix.length).toBeGreaterThanOrEqual(heads.get(id) ?? 0)
      expectRecovery(prefix, copied.slice(prefix.length))
    }
    // A cursor of all sessions belongs to the store that gave it.
    const refused = await fetch(`${restored.server.url}/v1/events?after=${feed}`)
    expect(refused.status).toBe(410)
    expect(await refused.json()).toMatchObject({ code: 'cursor_gone' })
    // A cursor stays valid, and the session goes on.
    const [first] = quiet
    const { entries } = await restored.client.page(first?.id ?? '', { after: cursor - 1 })
    expect(entries?.map(({ seq }) => seq)).toEqual([cursor])
    await restored.client.prompt(first?.id ?? '', 'more')
    await untilIdle(restored.client, first?.id ?? '')
    await restored.server.stop()
    await original.server.stop()
    const report = await examine({ data: join(home, 'restored'), ...(target && { store: { url: target } }) })
    expect(report?.damage).toEqual([])
  },
  60_000,
)

test('a store with sessions is never overwritten, and an interrupted backup is made anew', async () => {
  const { server, client } = await start('original')
  const { id } = await client.begin({ agent: 'echo', prompt: 'one' })
  await untilIdle(client, id)
  const data = join(home, 'original')
  const folder = join(home, 'backup')
  const broken = backup(data, folder, {
    progress: () => {
      throw new Error('killed')
    },
  })
  await expect(broken).rejects.toThrow('killed')
  await expect(restore(folder, join(home, 'other'), {})).rejects.toThrow('unfinished copy')
  await backup(data, folder, {})
  await expect(backup(data, folder, {})).resolves.toMatchObject({ outcome: 'unchanged' })
  const { id: next } = await client.begin({ agent: 'echo', prompt: 'two' })
  await untilIdle(client, next)
  await expect(backup(data, folder, {})).rejects.toThrow('already holds other sessions')
  await expect(backup(data, 'postgres://localhost/x', {})).rejects.toThrow('a backup is a directory')
  await expect(backup(data, join(data, 'log'), {})).rejects.toThrow('both stores are the same')
  await expect(restore(folder, data, {})).rejects.toMatchObject({ code: 'conflict' })
  await server.stop()
  await expect(restore(folder, data, {})).rejects.toThrow('already holds other sessions')
  await expect(restore(join(home, 'nothing'), data, {})).rejects.toThrow('there is no backup in')
  expect(existsSync(join(home, 'nothing'))).toBe(false)
})
