import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { copy } from '../../src/daemon/copy-store.ts'
import { serve } from '../../src/daemon/serve.ts'
import { newSchema } from '../postgres/database.ts'

let home: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'copied-')))
})
afterEach(() => rmSync(home, { recursive: true }))

/** A server with its data in a directory, or in a database. Both accept the same token. */
async function start(name: string, store?: string) {
  const data = join(home, name)
  const flags = { port: 0, data, cwd: home, auth: false, ...(store !== undefined && { store }) }
  const config = await loadConfig({ flags, environment: { MAINSTEM_HOME: home }, cwd: home })
  const server = await serve({ config, report: () => undefined })
  const ask = async (path: string, body?: object, key?: string, accept = 'application/json') => {
    const headers = {
      accept,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    return fetch(server.url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  }
  const exported = async (id: string) => (await ask(`/v1/sessions/${id}/export`)).text()
  return { server, ask, exported }
}

const SSE = 'text/event-stream'

async function readUntil({ body }: Response, end: RegExp): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (end.test(text)) break
  }
  return text
}

test.each(['postgres', 'sqlite'] as const)(
  'a server on a copy in %s continues its sessions, cursors and keys',
  async (kind) => {
    const original = await start('original')
    const request = { agent: 'echo', prompt: 'first' }
    const created = await original.ask('/v1/sessions', request, 'key-1')
    const answer = (await created.json()) as { id: string }
    await expect.poll(() => original.exported(answer.id)).toContain('turn.completed')
    const log = await original.exported(answer.id)
    await original.server.stop()

    const url = kind === 'postgres' ? await newSchema() : undefined
    await copy(join(home, 'original'), url ?? join(home, 'copied'), {})
    const copied = await start('copied', url)
    expect(await copied.exported(answer.id)).toBe(log)

    // The same key is answered with the first session, and starts nothing.
    const repeated = await copied.ask('/v1/sessions', request, 'key-1')
    expect(await repeated.json()).toMatchObject({ id: answer.id })
    const list = (await (await copied.ask('/v1/sessions')).json()) as { sessions: unknown[] }
    expect(list.sessions).toHaveLength(1)
    const misused = await copied.ask('/v1/sessions', { ...request, prompt: 'other' }, 'key-1')
    expect(misused.status).toBe(422)

    // A client that has read two entries continues after them, and sees the next turn live.
    const stream = await copied.ask(`/v1/sessions/${answer.id}/events?after=2`, undefined, undefined, SSE)
    const prompted = await copied.ask(`/v1/sessions/${answer.id}/turns`, { prompt: 'second' })
    expect(prompted.status).toBe(202)
    const text = await readUntil(stream, /"prompt":"second"[\s\S]*turn\.completed/)
    const seqs = [...text.matchAll(/^id: (\d+)/gm)].map(([, seq]) => Number(seq))
    expect(seqs.length).toBeGreaterThan(3)
    expect(seqs).toEqual(seqs.map((_, index) => index + 3))
    await copied.server.stop()
  },
)
