import { describe, expect, test } from 'vitest'
import type { ProcessLaunch, Start } from '../../src/agents/agent.ts'
import { agents } from '../../src/agents/index.ts'
import { filePath } from '../../src/agents/kit/option.ts'
import type { Image } from '../../src/model/index.ts'

const PNG: Image = { mimeType: 'image/png', data: 'iVBORw==' }
const ALL: readonly Image[] = [
  PNG,
  { mimeType: 'image/jpeg', data: '/9j/' },
  { mimeType: 'image/gif', data: 'R0lG' },
  { mimeType: 'image/webp', data: 'UklG' },
]
const NAMES = ['picture-1.png', 'picture-2.jpg', 'picture-3.gif', 'picture-4.webp']

function recipeOf(agent: string) {
  const recipe = agents.find(({ id }) => id === agent)?.launches.oneshot
  if (!recipe) throw new Error(`there is no one-shot ${agent}`)
  return recipe
}

function startOf(images: readonly Image[], text: string, resume?: string): Start {
  const policy = { approval: 'ask', sandbox: 'read-only' } as const
  const base: Start = { launch: 'oneshot', cwd: '/x', policy, options: {}, epoch: 1 }
  return { ...base, prompt: { text, images }, ...(resume !== undefined && { resume }) }
}

function launchOf(agent: string, images: readonly Image[], text = 'look', resume?: string): ProcessLaunch {
  const launch = recipeOf(agent).launch(startOf(images, text, resume))
  if (launch.kind !== 'process') throw new Error(`${agent} is a process`)
  return launch
}

/** What pictures add to a command line, with the files that it names. */
function added(agent: string, images: readonly Image[], text?: string): string[] {
  const plain = launchOf(agent, [], text).argv
  return launchOf(agent, images, text).argv.filter((argument) => !plain.includes(argument))
}

function written(agent: string, images: readonly Image[], text: string): unknown {
  const { codec } = recipeOf(agent)
  return codec.encode(codec.initial(startOf(images, text)), { type: 'prompt', text, images: [...images] })
    .writes
}

describe.each(['codex', 'gemini', 'opencode'])('a one-shot %s', (agent) => {
  test('gets every picture as a file of its kind, next to its other files', () => {
    const files = launchOf(agent, ALL).files?.filter(({ encoding }) => encoding === 'base64')
    expect(files?.map(({ name }) => name)).toEqual(NAMES)
    expect(files?.map(({ text }) => text)).toEqual(ALL.map(({ data }) => data))
  })

  test('reads its text from stdin too, and nothing else', () => {
    const text = '--x @/etc/passwd "'
    expect(written(agent, ALL, text)).toEqual([{ kind: 'text', text }, { kind: 'end' }])
    expect(launchOf(agent, ALL, text)).toEqual(launchOf(agent, ALL, 'look'))
  })

  test('is started as ever without a picture', () => {
    const { prompt: _, ...start } = startOf([], 'look')
    expect(launchOf(agent, [])).toEqual(recipeOf(agent).launch(start))
  })

  test.each([
    ['a kind that no ending stands for', [{ mimeType: 'image/../x.png', data: 'AAAA' }]],
    ['a kind in other letters', [{ mimeType: 'image/PNG', data: 'AAAA' }]],
    ['more than a command line should name', Array.from({ length: 21 }, () => PNG)],
  ])('refuses %s', (_, images) => {
    expect(() => launchOf(agent, images)).toThrow(expect.objectContaining({ code: 'unsupported_option' }))
  })

  test('refuses pictures that it was not started with', () => {
    const { codec } = recipeOf(agent)
    const state = codec.initial(startOf([], 'x'))
    const { refused, writes } = codec.encode(state, { type: 'prompt', text: 'x', images: [PNG] })
    expect(refused?.code).toBe('unsupported_option')
    expect(writes).toEqual([])
  })
})

test('codex gets images before the session to resume', () => {
  expect(added('codex', ALL)).toEqual(NAMES.map((name) => `--image=${filePath(name)}`))
  const { argv } = launchOf('codex', [PNG], 'look', 'thread-1')
  expect(argv.slice(-4)).toEqual([`--image=${filePath('picture-1.png')}`, 'resume', 'thread-1', '-'])
})

test('opencode gets images one by one', () => {
  expect(added('opencode', ALL)).toEqual(NAMES.map((name) => `--file=${filePath(name)}`))
})

describe('gemini', () => {
  test('gets images after the prompt, and may read their folder', () => {
    expect(added('gemini', ALL.slice(0, 2))).toEqual([
      `--include-directories=${filePath('.')}`,
      `--prompt=@${filePath('picture-1.png')} @${filePath('picture-2.jpg')}`,
    ])
  })

  test('accepts no image with a command, which would not show it', () => {
    expect(() => launchOf('gemini', [PNG], '/review this')).toThrow(/images is not supported by gemini/)
    expect(() => launchOf('gemini', [], '/review this')).not.toThrow()
  })
})

describe('a one-shot claude', () => {
  test('gets pictures with its text in one message, and no file', () => {
    expect(added('claude', [PNG])).toEqual(['--input-format=stream-json'])
    expect(launchOf('claude', [PNG]).files).toEqual([])
    const [message, ...rest] = [written('claude', ALL, 'look')].flat()
    expect(rest).toEqual([{ kind: 'end' }])
    const { text } = message as { text: string }
    expect(text.endsWith('\n')).toBe(true)
    const images = ALL.map(({ mimeType, data }) => ({
      type: 'image',
      source: { type: 'base64', media_type: mimeType, data },
    }))
    expect(JSON.parse(text)).toMatchObject({
      type: 'user',
      message: { role: 'user', content: [...images, { type: 'text', text: 'look' }] },
    })
  })

  test('gets nothing else while it reads them', () => {
    const { codec } = recipeOf('claude')
    const state = codec.initial(startOf([PNG], 'look'))
    expect(codec.encode(state, { type: 'steer', text: 'x' }).refused?.code).toBe('unsupported_option')
  })
})
