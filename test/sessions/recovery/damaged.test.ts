import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { database, newDirectory } from '../../stores/sqlite-parts.ts'
import { house, init, said } from '../house.ts'

const never = new AbortController().signal

/** Two sessions with an open turn and a queued prompt, whose owner is gone. */
async function abandoned(directory: string): Promise<[damaged: string, other: string]> {
  await using store = await sqliteStore({ directory, durability: 'process' })
  const { open, driver } = house(store)
  const ids: string[] = []
  for (const _ of [1, 2]) {
    const session = await open()
    await session.prompt('one')
    await session.prompt('two')
    const run = await driver.run(ids.length + 1)
    run.say(init, said('half'))
    await expect.poll(() => session.coverage.frames).toBe(2)
    ids.push(session.id)
  }
  return [ids[0] ?? '', ids[1] ?? '']
}

test.each([
  ['log', 'body', "replace(body, 'half', 'hulf')"],
  ['session', 'record', "replace(record, 'claude', 'clauda')"],
  ['queued', 'body', "replace(body, 'two', 'twp')"],
])(
  'a session with a damaged %s is refused on every path, and another recovers',
  async (table, column, value) => {
    const directory = newDirectory()
    const [damaged, other] = await abandoned(directory)
    const db = database(directory)
    const owner = table === 'session' ? 'n' : 'session'
    db.exec(
      `UPDATE ${table} SET ${column} = ${value} WHERE ${owner} = (SELECT n FROM session WHERE id = '${damaged}')`,
    )
    db.close()
    {
      await using store = await sqliteStore({ directory, durability: 'process' })
      const { sessions, driver } = house(store)
      expect(await sessions.recover()).toBe(1)
      await sessions.resumeQueues()
      // The queued prompt of the other session runs; the damaged session starts nothing.
      expect(await store.record(other)).toMatchObject({ openTurn: 2, queue: [] })
      expect(driver.runs).toHaveLength(1)
      await expect(sessions.open(damaged)).rejects.toMatchObject({ code: 'storage_failed' })
      await expect(sessions.open(damaged)).rejects.toThrow(damaged)
      if (table === 'log') {
        const follow = async () => {
          for await (const _ of sessions.follow(damaged, 0, never));
        }
        await expect(follow()).rejects.toMatchObject({
          code: 'storage_failed',
          details: { session: damaged },
        })
      } else await expect(store.record(damaged)).rejects.toMatchObject({ code: 'storage_failed' })
    }
    rmSync(directory, { recursive: true })
  },
)
