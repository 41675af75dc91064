import { sqliteStore } from '../../src/stores/sqlite.ts'

/** `node commit.ts <directory> <durability> <commits>`: as many commits, each acknowledged before the next. */
const [directory = '', durability, commits] = process.argv.slice(2)
const session = '00000000-0000-4000-8000-000000000001'
await using store = await sqliteStore({ directory, durability: durability === 'power' ? 'power' : 'process' })
for (let seq = 1; seq <= Number(commits); seq++) {
  const entries = [
    {
      seq,
      session,
      at: 0,
      event: { type: 'notice.raised', level: 'info', code: 'agent_warning', message: 'm' } as const,
    },
  ]
  if (seq === 1) await store.create(session, { entries })
  else await store.append(session, { entries })
}
