import { expect, test } from 'vitest'
import { type AgentAdapter, type AgentEvent, claudeCode, codex } from '../../src/ues/index.ts'
import { EDITED, editAll } from '../edit-all.ts'
import { all, playing, serving } from './scene.ts'

/** The events as text, each written before the consumer edits the event. */
async function editWhileReading(events: AsyncIterable<AgentEvent>): Promise<string[]> {
  const texts: string[] = []
  for await (const event of events) {
    texts.push(JSON.stringify(event))
    editAll(event)
  }
  return texts
}

const typesIn = (texts: readonly string[]) => texts.map((text) => JSON.parse(text).type)

test.each<[string, () => AgentAdapter]>([
  ['Claude Code', () => playing(claudeCode, 'claude/fixtures/claude/bidi_perm_allow')],
  ['Codex', () => playing(codex, 'codex/fixtures/codex/as_tools')],
  ['OpenCode', () => serving('tool_bash')],
])('editing every event of %s changes no later event', async (_name, make) => {
  const canUseTool = async (_tool: string, input: Record<string, unknown>) => {
    expect(JSON.stringify(input)).not.toContain(EDITED)
    editAll(input)
    return { allow: true }
  }
  const expected = await all(make().run('go', { canUseTool }))
  const seen = await editWhileReading(make().run('go', { canUseTool }))
  expect(typesIn(seen)).toEqual(expected.map(({ type }) => type))
  expect(seen.filter((text) => text.includes(EDITED))).toEqual([])
})
