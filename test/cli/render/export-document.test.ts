import { describe, expect, test } from 'vitest'
import { blocksOf, toHtml, toMarkdown } from '../../../src/cli/commands/export-document.ts'
import { applyEntry, newTimeline } from '../../../src/client/index.ts'
import type { Event } from '../../../src/model/index.ts'
import { decodeFixture, fixtures } from '../../agents/fixtures.ts'
import { entriesOf } from '../../dialects/entries.ts'

function blocks(...events: Event[]) {
  const timeline = newTimeline()
  for (const entry of entriesOf(...events)) applyEntry(timeline, entry)
  return blocksOf(timeline.items)
}

const agent = { type: 'subagent.started', id: 'a', toolId: 't', label: 'Look', parent: undefined } as const

test('a document has what a person sees, in its order', () => {
  const all = blocks(
    { type: 'turn.started', turn: 1, prompt: 'go', origin: 'prompt' },
    { type: 'plan.updated', items: [{ text: 'look', status: 'in_progress' }] },
    { type: 'tool.started', toolId: 't', name: 'Task', kind: 'task', title: 'Look around' },
    agent,
    { type: 'text.completed', messageId: 'm', text: 'I looked.', parent: 'a' },
    { type: 'tool.completed', toolId: 't', name: 'Task', kind: 'task', status: 'success', output: 'done' },
    { type: 'turn.steered', turn: 1, prompt: 'faster', effect: 'folded' },
    {
      type: 'request.opened',
      requestId: 'r',
      kind: 'permission',
      blocking: true,
      tool: 'Bash',
      inputDigest: '0',
      options: [],
    },
    {
      type: 'request.resolved',
      requestId: 'r',
      decision: 'deny',
      by: 'person',
      principal: 'local',
      client: 'page',
      message: 'not now',
    },
    { type: 'notice.raised', level: 'warning', code: 'agent_warning', message: 'slow' },
    { type: 'text.delta', messageId: 'n', text: 'lost' },
    { type: 'message.discarded', messageId: 'n', reason: 'stream_broken' },
    { type: 'text.completed', messageId: 'o', text: 'Bye.' },
    { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 1, denials: 1 },
  )
  expect(toMarkdown({ title: 'A session', blocks: all })).toBe(`# A session

## Prompt

> go

- [-] look

**Task Look around (success)**

\`\`\`
done
\`\`\`

I looked.

## Prompt

> faster

*Request: Bash: denied, by local (page): not now*

*slow*

Bye.

*completed*
`)
})

describe('the output of a tool', () => {
  const document = blocks(
    { type: 'turn.started', turn: 1, origin: 'prompt', prompt: 'look\nhere' },
    { type: 'tool.started', toolId: 't', name: 'Bash', kind: 'execute', title: 'cat x' },
    {
      type: 'tool.completed',
      toolId: 't',
      name: 'Bash',
      kind: 'execute',
      status: 'success',
      exitCode: 0,
      output: '```\n<b>',
    },
    { type: 'turn.completed', turn: 1, outcome: 'completed', durationMs: 1, denials: 0 },
  )

  test('cannot leave its block in Markdown', () => {
    expect(toMarkdown({ title: 'A\nB', blocks: document })).toBe(
      '# A B\n\n## Prompt\n\n> look\n> here\n\n**Bash cat x (exit 0)**\n\n````\n```\n<b>\n````\n\n*completed*\n',
    )
  })

  test('is no markup in HTML', () => {
    const html = toHtml({ title: '<x>', blocks: document })
    expect(html).toContain('&lt;b&gt;')
    expect(html).not.toContain('<b>')
    expect(html).not.toContain('<x>')
  })
})

test('every completed message and call of every recording is in its document', () => {
  for (const fixture of fixtures) {
    const timeline = newTimeline()
    const { entries } = decodeFixture(fixture)
    for (const entry of entries) applyEntry(timeline, entry)
    const document = { title: fixture.name, blocks: blocksOf(timeline.items) }
    const texts = document.blocks.map(({ text }) => text).join('\n')
    for (const { event } of entries) {
      if (event.type === 'text.completed') expect(texts.includes(event.text), fixture.name).toBe(true)
      if (event.type === 'tool.completed' && event.output !== undefined)
        expect(texts.includes(event.output), fixture.name).toBe(true)
    }
    expect(toHtml(document)).not.toMatch(/<script/i)
  }
})
