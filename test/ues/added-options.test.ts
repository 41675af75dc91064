import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type AgentOptions, acp, echo, gemini } from '../../src/ues/index.ts'
import { claude, only, run, told, types } from './scene.ts'

const PIXEL = 'iVBORw0KGgo='

const argvWith = async (options: AgentOptions) => told(await run(claude(), 'tell', options)).argv

describe('options beside those of the document', () => {
  test('effort and outputSchema reach the agent', async () => {
    const outputSchema = { type: 'object', properties: { files: { type: 'number' } } }
    const argv = await argvWith({ effort: 'high', outputSchema })
    expect(argv).toContain('--effort=high')
    expect(argv).toContain(`--json-schema=${JSON.stringify(outputSchema)}`)
  })

  test('mcpServers reach the agent', async () => {
    const servers: unknown[] = []
    for await (const event of claude().run('tell', { mcpServers: { docs: { command: 'docs-server' } } })) {
      if (event.type !== 'text') continue
      // The file is removed with the process.
      const flag = told([event]).argv.find((arg) => arg.startsWith('--mcp-config='))
      servers.push(JSON.parse(readFileSync(flag?.replace('--mcp-config=', '') ?? '', 'utf8')))
    }
    expect(servers).toEqual([{ mcpServers: { docs: { command: 'docs-server' } } }])
  })

  test('images are part of the prompt', async () => {
    const images = [{ mimeType: 'image/png', data: PIXEL }]
    const [text] = only(await run(claude(), 'images', { images }), 'text')
    expect(JSON.parse(text?.payload.content ?? '')).toEqual([
      { type: 'base64', media_type: 'image/png', data: PIXEL },
    ])
  })

  test('a structured answer is parsed, also one that the agent sends as text', async () => {
    const outputSchema = { type: 'object' }
    const structuredOf = async (prompt: string, options: AgentOptions) =>
      only(await run(claude(), prompt, options), 'done')[0]?.metadata?.structured
    expect(await structuredOf('say {"files":3}', { outputSchema })).toEqual({ files: 3 })
    expect(await structuredOf('say {"files":3}', {})).toBeUndefined()
    expect(await structuredOf('say no JSON', { outputSchema })).toBeUndefined()
  })
})

describe('an added option that the agent does not support is refused before anything starts', () => {
  const images = [{ mimeType: 'image/png', data: PIXEL }]
  test.each([
    [gemini(), { effort: 'high' }, 'effort'],
    [gemini(), { outputSchema: { type: 'object' } }, 'outputSchema'],
    [acp('copilot'), { mcpServers: { docs: { command: 'docs-server' } } }, 'mcpServers'],
    [echo(), { images }, 'images'],
  ])('%o: %o', async (adapter, options, named) => {
    const events = await run(adapter, 'x', options)
    expect(types(events)).toEqual(['init', 'error', 'done'])
    const [error] = only(events, 'error')
    expect(error?.payload).toMatchObject({ code: 'unsupported_option' })
    expect(error?.payload.message).toMatch(named)
  })
})

test.each([
  [{ images: [{ mimeType: 'image/png', data: 'not base64!' }] }, 'images.0.data'],
  [{ effort: '--flag' }, 'effort'],
  [{ mcpServers: { docs: { colour: 1 } } }, 'mcpServers.docs'],
])('an invalid value is refused by the name of the option: %o', async (options, named) => {
  const events = await run(claude(), 'tell', JSON.parse(JSON.stringify(options)))
  const [error] = only(events, 'error')
  expect(error?.payload.code).toBe('invalid_request')
  expect(error?.payload.message.startsWith(named)).toBe(true)
  expect(types(events)).toEqual(['init', 'error', 'done'])
})
