import { describe, expect, test } from 'vitest'
import type { Start } from '../../../src/agents/agent.ts'
import { claude } from '../../../src/agents/claude/agent.ts'
import { DEFAULT_POLICY } from '../../../src/model/index.ts'
import { Talk } from './claude-talk.ts'

const mcpServers = {
  a: { command: 'x', env: { KEY: 'secret' } },
  b: { url: 'http://localhost', headers: { Authorization: 'secret' } },
}

const NEW = { version: '2.1.326', options: { mcpServers } }

function launchOf(launch: 'live' | 'oneshot', more: Partial<Start>) {
  const start = { launch, cwd: '/', policy: DEFAULT_POLICY, options: { mcpServers }, epoch: 1, ...more }
  return JSON.stringify(claude.launches[launch]?.launch(start))
}

describe('MCP servers of a live Claude 2.1.326 and later', () => {
  test('are in the initialize request, and neither on the command line nor in a file', () => {
    const launch = launchOf('live', { version: '2.1.326' })
    expect(launch).toContain('--await-initialize')
    expect(launch).not.toMatch(/secret|--mcp-config/)
    expect(new Talk('live', NEW).tell({ type: 'open' })).toMatchObject([
      {
        request: {
          subtype: 'initialize',
          mcpServers: { a: mcpServers.a, b: { type: 'http', ...mcpServers.b } },
        },
      },
    ])
  })

  test.each([{}, { mcp_servers_applied: false }])(
    'that the answer %j does not confirm are reported',
    (answer) => {
      const talk = new Talk('live', NEW)
      talk.tell({ type: 'open' })
      expect(talk.hear(answerWith(answer))).toMatchObject([
        { type: 'notice.raised', level: 'error', code: 'protocol_refused', data: { servers: ['a', 'b'] } },
      ])
    },
  )

  test('that the answer confirms are not mentioned', () => {
    const talk = new Talk('live', NEW)
    talk.tell({ type: 'open' })
    expect(talk.hear(answerWith({ mcp_servers_applied: true }))).toEqual([])
  })
})

test.each(['2.1.325', '2.1.197', undefined])('version %s reads them from a file', (version) => {
  const start = version === undefined ? {} : { version }
  expect(launchOf('live', start)).toMatch(/--mcp-config/)
  expect(launchOf('live', start)).not.toContain('--await-initialize')
  const [opened] = new Talk('live', { ...start, options: { mcpServers } }).tell({ type: 'open' })
  expect(opened).not.toHaveProperty('request.mcpServers')
})

test('the one-shot launch reads them from a file in every version: it has no initialize request', () => {
  expect(launchOf('oneshot', { version: '2.1.326' })).toMatch(/--mcp-config/)
})

function answerWith(response: object): object {
  return { type: 'control_response', response: { subtype: 'success', request_id: 'c1', response } }
}
