import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessLaunch } from '../../../src/agents/agent.ts'
import type { LastingStart, Run, RunContext } from '../../../src/drivers/driver.ts'
import { SpoolDriver, type SpoolDriverOptions } from '../../../src/drivers/spool.ts'
import { contextOf, fakeAgent, QUICK } from '../fake-run.ts'

/** A driver whose runs outlive it, with a folder of its own. */
export function spooled(options: Partial<SpoolDriverOptions> = {}): SpoolDriver {
  const spool = options.spool ?? join(mkdtempSync(join(tmpdir(), 'spool-test-')), 'spool')
  return new SpoolDriver({ graces: QUICK, ...options, spool })
}

export function startSpooled(
  driver: SpoolDriver,
  launch: ProcessLaunch,
  input: LastingStart['input'] = 'open',
  context: RunContext = contextOf(),
): Run {
  driver.prepare(context.runId, 1)
  return driver.start(launch, { ...context, lasting: { input } })
}

export const startSpooledFake = (mode: string, argument = '', options: Partial<SpoolDriverOptions> = {}) =>
  startSpooled(spooled(options), fakeAgent(mode, argument))
