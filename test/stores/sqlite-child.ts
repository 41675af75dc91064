import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { sqliteStore } from '../../src/stores/sqlite.ts'
import type { Store } from '../../src/stores/store.ts'
import { CREATED, entries, frames, readAll, sessionId, state, WRITTEN } from './sqlite-parts.ts'

const [role = '', directory = ''] = process.argv.slice(2)
const ROLES: Record<string, () => Promise<void>> = { write, hold, open, limited }
await ROLES[role]?.()

/** Without a buffer: what was said before a SIGKILL has been said. */
function say(text: string): void {
  writeSync(1, `${text}\n`)
}

/** Writes until it is killed, and tells what was acknowledged. */
async function write(): Promise<void> {
  const store = await sqliteStore({ directory })
  const writers = Array.from({ length: WRITTEN }, (_, index) => writeSession(store, index))
  await Promise.all([...writers, createSessions(store)])
}

async function writeSession(store: Store, index: number): Promise<void> {
  const id = sessionId(index)
  for (let head = await store.head(id); ; ) {
    const last = head + 1 + ((head + index) % 5)
    const journal = frames(id, head + 1, last)
    const record = state(id, { turns: last })
    await store.append(id, { entries: entries(id, head + 1, last), journal, record })
    head = last
    say(`${id} ${head}`)
  }
}

async function createSessions(store: Store): Promise<void> {
  for (let index = CREATED; ; index++) {
    const id = sessionId(index)
    if ((await store.head(id)) > 0) continue
    const receipt = { scope: 's', key: id, fingerprint: 'f', session: id }
    await store.create(id, { entries: entries(id, 1, 2), record: state(id) }, receipt)
    say(`${id} 2`)
  }
}

/** Holds the store until its input ends. */
async function hold(): Promise<void> {
  await using _store = await sqliteStore({ directory })
  say('open')
  process.stdin.resume()
  await once(process.stdin, 'end')
}

async function open(): Promise<void> {
  try {
    await using _store = await sqliteStore({ directory })
    say('open')
  } catch (thrown) {
    say(String(thrown))
  }
}

/** Writes into a limit on the size of files, reads on, has the limit lifted, and writes on. */
async function limited(): Promise<void> {
  await using store = await sqliteStore({ directory })
  const id = sessionId(1)
  let head = 0
  let failure: unknown
  while (failure === undefined) {
    try {
      await store.append(id, { entries: entries(id, head + 1, head + 100) })
      head += 100
    } catch (thrown) {
      failure = thrown
    }
  }
  say(String(failure))
  say(JSON.stringify({ head, readable: (await readAll(store, id)).length }))
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
  await store.append(id, { entries: entries(id, head + 1, head + 100) })
  say(JSON.stringify({ head: await store.head(id) }))
}
