import { expect, test } from 'vitest'
import { sqliteStore } from '../../../src/stores/sqlite.ts'
import { newDirectory } from '../../stores/sqlite-parts.ts'
import { startGateway } from '../start.ts'
import { pollAroundPrompts } from './board-polls.ts'

test('polls around new prompts never report a living session as removed', async () => {
  await using store = await sqliteStore({ directory: newDirectory(), durability: 'process' })
  await using server = await startGateway({ store })
  expect(await pollAroundPrompts(server, 40)).toEqual({ polls: 400, wrong: [] })
})
