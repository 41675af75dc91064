import { describe, expect, test } from 'vitest'
import { verdictOf } from './gemini-talk.ts'

describe('its exit codes', () => {
  const init = { type: 'init', session_id: 's', model: 'm' }
  const outcomeOf = (lines: readonly unknown[], code: number) => {
    const { evidence, error } = verdictOf(lines, { code, cause: 'exit' })
    return [evidence, error?.code]
  }

  test.each([
    [0, 'none', undefined],
    [1, 'none', undefined],
    [41, 'error', 'authentication_failed'],
    [42, 'error', 'invalid_request'],
    [44, 'error', 'agent_not_ready'],
    [52, 'error', 'agent_not_ready'],
    [53, 'max_steps', 'unknown'],
    [54, 'error', 'tool_execution_failed'],
    [55, 'error', 'agent_not_ready'],
    [130, 'aborted', undefined],
    [137, 'none', undefined],
    [143, 'none', undefined],
    [144, 'error', 'invalid_request'],
    [145, 'error', 'authentication_failed'],
    // What no status of an API stands for, as of a CPU limit.
    [152, 'none', undefined],
    [173, 'error', 'rate_limited'],
    [244, 'error', 'connection_failed'],
  ])('%i without a result and output is %s with %s', (code, evidence, error) => {
    expect(outcomeOf([], code)).toEqual([evidence, error])
    expect(outcomeOf([init], code)).toEqual([evidence, error])
  })

  test('give the reason if there is one', () => {
    expect(verdictOf([], { code: 41, cause: 'exit' }).error?.message).toBe('it exited with code 41')
  })

  test.each([
    ['FatalInputError', 'Exiting due to an error processing the @ command.', 42, 'error', 'invalid_request'],
    ['FatalAuthenticationError', 'fetch failed', 41, 'error', 'authentication_failed'],
    ['no_space_left', 'Disk quota exceeded', 54, 'error', 'tool_execution_failed'],
    ['FatalTurnLimitedError', 'Reached max session turns', 53, 'max_steps', 'unknown'],
    ['FatalCancellationError', 'Operation cancelled.', 130, 'aborted', undefined],
    ['FatalCancellationError', 'Operation cancelled.', 0, 'aborted', undefined],
    ['unknown', '[API Error: terminated]', 1, 'error', 'connection_failed'],
    ['unknown', 'who knows', 1, 'error', 'unknown'],
  ])('refine a result that is %s: %s (%i)', (type, message, code, evidence, error) => {
    expect(outcomeOf([init, { type: 'result', status: 'error', error: { type, message } }], code)).toEqual([
      evidence,
      error,
    ])
  })
})
