import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCell } from '../../conformance/cell.ts'
import type { Program } from '../../conformance/programs.ts'
import type { Scenario } from '../../conformance/scenario.ts'
import { type Launch, must, Unplayable } from '../../conformance/stage.ts'
import { MainstemError } from '../../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'cell-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** The agent that is built in: a cell without a program of its own. */
const ECHO: Program = {
  id: 'codex',
  agent: 'echo',
  package: 'none',
  version: '1.0.0',
  bin: 'none',
  offline: 'claude',
  launches: ['live', 'oneshot'],
  inCi: false,
}

const cellOf = (id: string, play: Scenario['play'], launch: Launch = 'live', program = ECHO) => {
  const scenario = { id, title: id, effect: 'nothing', play }
  return runCell({ program, launch, scenario }, 'none', join(folder, id))
}

const NO_PRICE = 'no cost in {"input":1,"output":2}'

describe('a cell', () => {
  it('passes if its scenario runs to the end', async () => {
    const result = await cellOf('text', async (stage) => {
      const told = await stage.turn(await stage.session(), 'text')
      must(told.outcome === 'completed' && told.text.startsWith('SCENARIO:text'), 'it is no echo')
      must(told.events.at(-1)?.type === 'turn.completed', 'it has no end')
    })
    expect(result).toEqual({
      program: 'codex',
      version: '1.0.0',
      launch: 'live',
      scenario: 'text',
      state: 'yes',
    })
  })

  it('that does not show what it is about is red', async () => {
    const result = await cellOf('text', async () => must(false, 'nothing to see'))
    expect(result).toMatchObject({ state: 'red', reason: 'nothing to see' })
  })

  it('that does not show what is a known limit is a no, with what was seen and where else it can be', async () => {
    const result = await cellOf('cost', async () => must(false, NO_PRICE))
    expect(result).toMatchObject({
      state: 'no',
      reason: 'It reports tokens and no price.',
      seen: NO_PRICE,
      evidence: expect.stringMatching(/^src\/agents\/codex\/fixtures\//),
    })
  })

  it('that misses for another reason than its limit names is red', async () => {
    const result = await cellOf('cost', async () => must(false, 'the outcome is crashed'))
    expect(result).toMatchObject({ state: 'red', reason: expect.stringMatching(/^the outcome is crashed/) })
  })

  it('that is refused for another reason than its limit names is red', async () => {
    const result = await cellOf('cost', async () => {
      throw new MainstemError('unsupported_option', 'not here')
    })
    expect(result).toMatchObject({
      state: 'red',
      reason: expect.stringMatching(/^unsupported_option: not here/),
    })
  })

  it('that we refuse, and the program would not, is ours', async () => {
    const play = async () => {
      throw new MainstemError('unsupported_option', 'setMode is not supported by a oneshot opencode')
    }
    expect(await cellOf('set-mode', play, 'oneshot', { ...ECHO, id: 'opencode' })).toMatchObject({
      state: 'ours',
      seen: 'unsupported_option: setMode is not supported by a oneshot opencode',
    })
  })

  it('reports findings without paths of this machine', async () => {
    const place = join(folder, 'cost')
    const seen = `${NO_PRICE} in ${place}/work at http://127.0.0.1:${4321}`
    const result = await cellOf('cost', async () => must(false, seen))
    expect(result.seen).toBe(`${NO_PRICE} in /work at http://127.0.0.1`)
  })

  it('that cannot be played here is not run', async () => {
    const result = await cellOf('text', async () => {
      throw new Unplayable('it has one model')
    })
    expect(result).toMatchObject({ state: 'not run', reason: 'it has one model' })
  })

  it('that shows what was thought to be a limit is red, because the limit is out of date', async () => {
    const result = await cellOf('cost', async () => undefined)
    expect(result).toMatchObject({
      state: 'red',
      reason: expect.stringMatching(/it works, although a limit exists/),
    })
  })

  it('that fails in any other way is red, limit or not', async () => {
    const result = await cellOf('cost', async () => {
      throw new MainstemError('protocol_error', 'odd')
    })
    expect(result).toMatchObject({ state: 'red', reason: expect.stringMatching(/odd/) })
  })
})
