import { readiness } from '../../compose/readiness.ts'
import { loadConfig } from '../../daemon/config.ts'
import { exitCodeOf } from '../../model/index.ts'
import { renderAgents } from '../render/agents.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { interrupts } from '../terminal/interrupts.ts'

export interface AgentsFlags {
  config?: string
  json?: boolean
}

/** `mainstem agents`: what each agent needs to work. */
export async function agents(flags: AgentsFlags): Promise<void> {
  const { stdout, env } = process
  const config = await loadConfig({
    flags: flags.config === undefined ? {} : { config: flags.config },
    environment: env,
    cwd: process.cwd(),
  })
  // A version check that is still running must not keep the program alive.
  using interrupted = interrupts()
  const list = await readiness({ settings: config.agents, signal: interrupted })
  if (interrupted.aborted) {
    process.exitCode = exitCodeOf('interrupted', undefined)
    return
  }
  const text = flags.json ? `${JSON.stringify(list)}\n` : renderAgents(new Screen(screenOn(stdout)), list)
  await new Printer(stdout).print(text)
}
