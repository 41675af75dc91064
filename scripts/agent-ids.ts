import { agents } from '../src/agents/index.ts'
import { agentIdOf } from '../src/dialects/ues/ues-run.ts'

const NOTE =
  '// Generated from the list of agents by `npm run schemas`; edit src/agents/index.ts, not this file.'

/** Types that let editors complete the ids of all agents, and accept every other string. */
export function agentIdModules(): Record<string, string> {
  const ids = agents.map(({ id }) => id)
  return {
    'src/model/agent-id.types.ts': printed(
      'The id of an agent. Editors complete the known ids; the server may have more.',
      ids,
    ),
    'src/ues/agent-id.types.ts': renamed(
      'The id of an agent in events. Editors complete the known ids; adapters may have others.',
      ids.filter((id) => agentIdOf(id) !== id),
    ),
  }
}

/** The same ids, except those that events name differently. */
function renamed(doc: string, ids: readonly string[]): string {
  const before = ids.map((id) => `'${id}'`).join(' | ')
  const after = ids.map((id) => `'${agentIdOf(id)}'`).join(' | ')
  const lines = [
    NOTE,
    '',
    "import type { AgentId as NativeId } from '../model/agent-id.types.ts'",
    '',
    `/** ${doc} */`,
    `export type AgentId = Exclude<NativeId, ${before}> | ${after}`,
  ]
  return `${lines.join('\n')}\n`
}

function printed(doc: string, ids: readonly string[]): string {
  const members = ids.toSorted().map((id) => `  | '${id}'`)
  return `${[NOTE, '', `/** ${doc} */`, 'export type AgentId =', ...members, '  | (string & {})'].join('\n')}\n`
}
