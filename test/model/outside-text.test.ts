import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ModelName, NativeSessionId, Policy, SessionId, SessionOptions } from '../../src/model/index.ts'

const HOSTILE: Record<string, string> = {
  'an empty text': '',
  'a long flag': '--dangerously-skip-permissions',
  'a short flag': '-p',
  'a newline at the end': 'abc\n',
  'a newline inside': 'abc\ndef',
  'a carriage return': 'abc\r',
  'a NUL': 'abc\0',
  'an escape': 'abc\u001b[2J',
  'a space': 'abc def',
  'a quote': `abc'`,
  'a command': '$(reboot)',
  'a separator': 'abc;reboot',
  'a parent folder': '../abc',
  'dots alone': '..',
  'letters that are not ASCII': 'été',
  'a look-alike letter': 'аbc',
  'a right-to-left override': 'abc\u202e',
  'ten kilobytes': 'a'.repeat(10_240),
}

describe.each(Object.entries(HOSTILE))('%s', (_name, text) => {
  it('is refused as a native session id', () => {
    expect(NativeSessionId.safeParse(text).success).toBe(false)
  })

  it('is refused as a session id', () => {
    expect(SessionId.safeParse(text).success).toBe(false)
  })

  it('is refused as a model, an effort, the name of a server', () => {
    expect(ModelName.safeParse(text).success).toBe(false)
    expect(SessionOptions.safeParse({ effort: text }).success).toBe(false)
    expect(SessionOptions.safeParse({ mcpServers: { [text]: {} } }).success).toBe(false)
  })
})

describe('text from outside', () => {
  it('is accepted where agents really use it', () => {
    const uuid = '3f1c2a4e-9d0b-4c5a-8e7f-0123456789ab'
    for (const id of [
      uuid,
      'ses_7Hq',
      '019a3c1e-7777-7000-8000-000000000000',
      'a',
      'thread:1.2',
      'a'.repeat(128),
    ]) {
      expect(NativeSessionId.safeParse(id).success, id).toBe(true)
    }
    for (const model of [
      'opus',
      'gpt-5.2-codex',
      'openai/gpt-5',
      'claude-opus-4-5@20251101',
      'opus[1m]',
      'small(openai)',
    ]) {
      expect(ModelName.safeParse(model).success, model).toBe(true)
    }
    expect(SessionId.safeParse(uuid).success).toBe(true)
  })

  it('is a session id only as a version 4 UUID', () => {
    expect(SessionId.safeParse('019a3c1e-7777-7000-8000-000000000000').success).toBe(false)
  })

  it('never reaches an argv as a flag, a path or a second line, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const schema of [NativeSessionId, ModelName]) {
          if (schema.safeParse(text).success) expect(text).toMatch(/^[A-Za-z0-9][\x21-\x7e]*$/)
        }
      }),
    )
  })

  it.each(['', 'A=B', 'A B', '1A', 'A\n', 'A\0', '-A'])(
    'is refused as the name of a variable: %j',
    (name) => {
      expect(SessionOptions.safeParse({ env: { [name]: 'x' } }).success).toBe(false)
    },
  )

  it.each(['--flag', '', 'a\nb', 'a\0b', 'a,b'])('is refused as the name of a tool: %j', (name) => {
    for (const list of ['available', 'preapproved', 'denied']) {
      const policy = { approval: 'ask', sandbox: 'none', tools: { [list]: [name] } }
      expect(Policy.safeParse(policy).success).toBe(false)
    }
  })

  it.each(['Bash', 'mcp__files__read', 'Bash(git log:*)', '*'])(
    'is accepted as the name of a tool: %s',
    (name) => {
      const policy = { approval: 'ask', sandbox: 'none', tools: { denied: [name] } }
      expect(Policy.safeParse(policy).success).toBe(true)
    },
  )
})
