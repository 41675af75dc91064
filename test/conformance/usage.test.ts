import { describe, expect, it } from 'vitest'
import { Missing } from '../../conformance/stage.ts'
import { modelOf, mustEqualUsage, mustNotContradict, usageOf } from '../../conformance/usage.ts'
import type { RecordedRequest } from '../../src/testing/index.ts'

const TOKENS = { input: 100, output: 20, cacheRead: 30, cacheWrite: 10, reasoning: 5 }

const request = (path: string, model: string): RecordedRequest => ({
  method: 'POST',
  path,
  headers: {},
  body: { model },
  at: new Date(0),
  usage: TOKENS,
})

describe('the usage of model requests', () => {
  it('counts cache writes and no reasoning on Anthropic’s API', () => {
    expect(usageOf([request('/v1/messages?beta=true', 'claude-opus-5-5')])).toEqual({
      input: 100,
      output: 20,
      cacheRead: 30,
      cacheWrite: 10,
      reasoning: 0,
      total: 160,
      costUsd: 0.000856,
    })
  })

  it('counts cache writes as input on other APIs, and adds requests up', () => {
    const one = request('/v1/chat/completions', 'model')
    const { costUsd, ...counts } = usageOf([one, one])
    expect(counts).toEqual({
      input: 220,
      output: 40,
      cacheRead: 60,
      cacheWrite: 0,
      reasoning: 10,
      total: 320,
    })
    expect(costUsd).toBeCloseTo(0.000306, 10)
  })

  it('is nothing where no answer arrived', () => {
    const { usage: _, ...refused } = request('/v1/responses', 'gpt')
    expect(usageOf([refused]).total).toBe(0)
  })

  it('names the model of the body or of the path', () => {
    expect(modelOf(request('/v1/messages', 'claude'))).toBe('claude')
    expect(modelOf(request('/v1beta/models/gemini-2.5:generateContent', ''))).toBe('gemini-2.5')
  })
})

describe('a reported usage', () => {
  const expected = usageOf([request('/v1/responses', 'gpt')])

  it('is equal when every count is', () => {
    mustEqualUsage('usage', { input: 110, output: 20, cacheRead: 30, reasoning: 5, total: 160 }, expected)
  })

  it.each([
    ['a wrong count', { input: 111, output: 20, cacheRead: 30, reasoning: 5, total: 160 }],
    ['a missing count', { input: 110, output: 20, cacheRead: 30, total: 160 }],
    ['no usage', undefined],
  ])('is unequal with %s', (_name, usage) => {
    expect(() => mustEqualUsage('usage', usage, expected)).toThrow(Missing)
  })

  it('contradicts by wrong counts only', () => {
    mustNotContradict('usage', { total: 160 }, expected)
    expect(() => mustNotContradict('usage', { total: 120 }, expected)).toThrow(/usage is \{"total":120\}/)
  })
})
