import type { AgentInfo } from '../../client/server-types.ts'
import { readiness } from '../../compose/readiness.ts'
import { loadConfig } from '../../daemon/config.ts'
import { exitCodeOf } from '../../model/index.ts'
import { clientOf, type ServerFlags, selectedContext } from '../contexts/connect.ts'
import { renderAgents } from '../render/agents.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { interrupts } from '../terminal/interrupts.ts'

export interface AgentsFlags extends Pick<ServerFlags, 'config' | 'context' | 'server'> {
  json?: boolean
}

/** `mainstem agents`: what each agent needs to work. */
export async function agents(flags: AgentsFlags): Promise<void> {
  const { env } = process
  const remote = await selectedContext(flags, env)
  if (remote) return show(await clientOf(remote).agents(), flags)
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
  await show(list, flags)
}

async function show(list: readonly AgentInfo[], { json }: AgentsFlags): Promise<void> {
  const { stdout } = process
  const text = json ? `${JSON.stringify(list)}\n` : renderAgents(new Screen(screenOn(stdout)), list)
  await new Printer(stdout).print(text)
}
