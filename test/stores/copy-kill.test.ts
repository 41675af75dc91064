import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Entry } from '../../src/model/index.ts'
import { runs, someOf } from '../long.ts'
import { PAIRS, PLACES, type Place } from './copy-places.ts'
import { contentsOf, Scene } from './copy-scene.ts'
import { entry, frames, sessionId, state } from './sqlite-parts.ts'

const CHILD = fileURLToPath(new URL('./copy-child.ts', import.meta.url))
const SESSIONS = 12
const COMMITS = 10
const LINE = 'x'.repeat(60_000)
const KILLS = runs(2, 8)

/** More than fits into a few pages, in sessions that were written in turns. */
async function filled(place: Place): Promise<Scene> {
  await using store = await place.open()
  const scene = new Scene(store)
  for (let commit = 1; commit <= COMMITS; commit++) {
    for (let index = 0; index < SESSIONS; index++) {
      const id = sessionId(100 + index)
      const event: Entry['event'] = { type: 'output.written', stream: 'stdout', line: `${commit} ${LINE}` }
      await store.append(id, {
        entries: [{ ...entry(id, commit), event }],
        journal: frames(id, commit, commit),
        record: state(id, { turns: commit }),
      })
    }
    await scene.play([
      { session: commit % 4, what: 'append', size: commit % 7 },
      { session: commit % 4, what: 'blob', size: 6 },
      { session: commit % 4, what: 'queue', size: commit },
    ])
  }
  return scene
}

/** Runs a copy, and kills it after so many lines. Returns its last line if it was not killed. */
async function run(from: string, to: string, lines: number): Promise<string | undefined> {
  const child = spawn(process.execPath, [CHILD, from, to], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let [seen, last] = [0, '']
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    if (++seen === lines) child.kill('SIGKILL')
  }
  const [code] = await exited
  return code === 0 ? last : undefined
}

test.each(someOf(PAIRS.slice(0, 2), 1))(
  'a copy from %s to %s that is killed again and again is complete in the end',
  { timeout: 300_000 },
  async (from, to) => {
    const [a, b] = await Promise.all([PLACES[from](), PLACES[to]()])
    const scene = await filled(a)
    let kills = 0
    for (let done: string | undefined; kills < KILLS && done === undefined; ) {
      // Later and later, so that every part is reached; by chance, so that no two runs end at the same places.
      done = await run(a.address, b.address, 1 + Math.floor(Math.random() * 8) + kills * 2)
      if (done === undefined) kills++
    }
    const summary = JSON.parse((await run(a.address, b.address, Number.POSITIVE_INFINITY)) ?? '{}')
    expect(kills).toBeGreaterThanOrEqual(KILLS / 2)
    expect(summary).toMatchObject({ outcome: expect.stringMatching(/^(?:continued|unchanged)$/), blobs: 10 })
    await using original = await a.open()
    await using copied = await b.open()
    expect(await contentsOf(copied, scene)).toEqual(await contentsOf(original, scene))
  },
)
