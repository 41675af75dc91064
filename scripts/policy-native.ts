import { REGISTRY } from '../src/agents/acp/registry.ts'
import type { Agent, Launch, Start } from '../src/agents/agent.ts'
import { threadParams } from '../src/agents/codex/app-server/thread.ts'
import { GEMINI } from '../src/agents/protocols/acp/launch/known-agents.ts'
import { type AcpQuirks, PLAIN } from '../src/agents/protocols/acp/launch/quirks.ts'
import { cellOf } from '../src/agents/protocols/acp/settings.ts'
import { type LaunchKind, MainstemError, type Policy, type SessionOptions } from '../src/model/index.ts'

/** The native form of a setting, or the reason of its refusal. */
export type Native = { parts: readonly string[] } | { refused: string }

/** Asks the launch itself, so that the page cannot say anything else. */
export function nativeOf(
  agent: Agent,
  kind: LaunchKind,
  policy: Policy,
  options: SessionOptions,
  resume?: string,
): Native {
  const start: Start = {
    launch: kind,
    cwd: '/',
    policy,
    options,
    epoch: 1,
    ...(resume !== undefined && { resume }),
  }
  try {
    const launch = agent.launches[kind]?.launch(start)
    const later = kind === 'live' ? (SAID_LATER.get(agent.id)?.(start) ?? []) : []
    return { parts: [...(launch ? commandOf(launch) : []), ...later] }
  } catch (thrown) {
    if (!(thrown instanceof MainstemError)) throw thrown
    return { refused: thrown.message.replace(/^.* is not supported by [\w-]+: /, '') }
  }
}

function commandOf(launch: Launch): string[] {
  if (!('argv' in launch)) return []
  const words = [...launch.argv, ...Object.entries(launch.env).map(([name, value]) => `${name}=${value}`)]
  const files = (launch.files ?? []).map(({ name, text }) =>
    // Code does not help a reader of the page.
    name.endsWith('.mjs') ? `<${name}> = a plugin of Mainstem` : `<${name}> = ${text}`,
  )
  return [...words.map((word) => word.replace(PATHS, '<$1$2>')), ...files]
}

/** Placeholders of paths, also those in JSON. */
const PATHS = /\0([^\0]+)\0|\\u0000((?:(?!\\u0000).)+)\\u0000/g

/** Settings that are sent after the start, by agent: those of a thread, or the mode of a session. */
const SAID_LATER: ReadonlyMap<string, (start: Start) => string[]> = new Map([
  ['codex', threadWords],
  ['gemini', modeWords(GEMINI)],
  ['acp', modeWords(PLAIN)],
  ...REGISTRY.map(({ id, quirks }) => [id, modeWords(quirks ?? PLAIN)] as const),
])

function threadWords(start: Start): string[] {
  const { cwd: _, ...params } = threadParams(start)
  return Object.entries(params).map(([name, value]) => `${name}: ${plain(value)}`)
}

function modeWords({ modes }: AcpQuirks) {
  return ({ policy }: Start) => {
    const mode = modes[cellOf(policy)]
    return mode ? [`mode ${mode.join(' / ')}`] : []
  }
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
