/** Writes the tables of the page on policies, from the launches and the rules themselves. */
import { readFileSync, writeFileSync } from 'node:fs'
import { acpAgents } from '../src/agents/acp/agent.ts'
import type { Agent } from '../src/agents/agent.ts'
import { agents } from '../src/agents/index.ts'
import type { RequestOpened } from '../src/model/events/request.ts'
import {
  Approval,
  LaunchKind,
  type Policy,
  Sandbox,
  type SessionOptions,
  ToolKind,
} from '../src/model/index.ts'
import { answerFor } from '../src/sessions/turns/approval.ts'
import { type Native, nativeOf } from './policy-native.ts'

const PAGE = 'docs/policy.md'

/** Longer ones stand below their table. */
const MAX_CELL = 70

const REFUSED = 'refused: '

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')
const code = (text: string) =>
  `\`${text
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')}\``

/** Agents with their own folder come first. Built-in agents are omitted, because they change nothing. */
const acp = new Set(acpAgents)
const held = agents
  .filter(({ setup }) => setup !== undefined)
  .sort((a, b) => Number(acp.has(a)) - Number(acp.has(b)))
const kindsOf = ({ launches }: Agent) => LaunchKind.options.filter((kind) => launches[kind])

interface Unit {
  agent: Agent
  kind: LaunchKind
}

const units: readonly Unit[] = held.flatMap((agent) => kindsOf(agent).map((kind) => ({ agent, kind })))

/** Approval × sandbox for one launch of one agent: the arguments of every start, and the grid. */
function gridOf({ agent, kind }: Unit): { always: readonly string[]; text: string } {
  const cells = Approval.options.map((approval) =>
    Sandbox.options.map((sandbox) => nativeOf(agent, kind, { approval, sandbox }, {})),
  )
  const accepted = cells.flat().flatMap((native) => ('parts' in native ? [native.parts] : []))
  const always = (accepted[0] ?? []).filter((part) => accepted.every((parts) => parts.includes(part)))
  const notes = new Map<string, number>()
  const rows = cells.map((natives, index) => [
    code(Approval.options[index] ?? ''),
    ...natives.map((native) => cellText(native, always, notes)),
  ])
  const below = [...notes].map(([part, note]) => `- (${note}) ${code(part)}`)
  const grid = table(['', ...Sandbox.options.map(code)], rows)
  return { always, text: below.length > 0 ? `${grid}\n\n${below.join('\n')}` : grid }
}

function cellText(native: Native, always: readonly string[], notes: Map<string, number>): string {
  if ('refused' in native) return `${REFUSED}${native.refused}`
  const own = native.parts.filter((part) => !always.includes(part))
  return own.length === 0 ? '–' : own.map((part) => partText(part, notes)).join(' ')
}

function partText(part: string, notes: Map<string, number>): string {
  if (part.length <= MAX_CELL) return code(part)
  const note = notes.get(part) ?? notes.size + 1
  notes.set(part, note)
  return `${code(part.slice(0, part.search(/[=: ]/)))} (${note})`
}

/** Launches that do the same share a grid. */
function grids(): string {
  const groups = Map.groupBy(
    units.map((unit) => ({ ...unit, ...gridOf(unit) })),
    ({ text }) => text,
  )
  return [...groups]
    .map(([text, same]) => {
      const title = heading(same.map(({ agent, kind }) => `${agent.id} ${kind}`))
      const commands = same
        .filter(({ always }) => always.length > 0)
        .map(({ agent, kind, always }) => `- ${agent.id} ${kind}: ${code(always.join(' '))}`)
      return [title, text, ...(commands.length > 0 ? ['Always:', commands.join('\n')] : [])].join('\n\n')
    })
    .join('\n\n')
}

function heading(names: readonly string[]): string {
  const [first, ...more] = names
  return `### ${names.length <= 3 ? names.join(', ') : `${first} and ${more.length} more`}`
}

interface Wish {
  policy?: Partial<Policy>
  options?: SessionOptions
}

/** A sample of every option. Where an agent wants another form, the first that it takes is shown. */
const WISHES: Readonly<Record<string, readonly Wish[]>> = {
  model: [{ options: { model: 'MODEL' } }, { options: { model: 'PROVIDER/MODEL' } }],
  fallbackModel: [{ options: { fallbackModel: 'MODEL' } }],
  effort: [{ options: { effort: 'EFFORT' } }, { options: { effort: 'high' } }],
  'systemPrompt.append': [{ options: { systemPrompt: { append: 'TEXT' } } }],
  'systemPrompt.replace': [{ options: { systemPrompt: { replace: 'TEXT' } } }],
  extraDirectories: [{ options: { extraDirectories: ['/DIR'] } }],
  mcpServers: [{ options: { mcpServers: { NAME: { command: 'PROGRAM' } } } }],
  'mcpServers.*.includeTools': [
    { options: { mcpServers: { NAME: { command: 'PROGRAM', includeTools: ['TOOL'] } } } },
  ],
  'mcpServers.*.trust': [{ options: { mcpServers: { NAME: { command: 'PROGRAM', trust: true } } } }],
  subagents: [{ options: { subagents: { NAME: { description: 'WHEN', prompt: 'TEXT' } } } }],
  skills: [{ options: { skills: ['/DIR'] } }],
  'isolation no-project': [{ options: { isolation: 'no-project' } }],
  'isolation bare': [{ options: { isolation: 'bare' } }],
  outputSchema: [{ options: { outputSchema: { type: 'object' } } }],
  checkpointing: [{ options: { checkpointing: true } }],
  network: [{ policy: { network: false } }],
  writableRoots: [{ policy: { writableRoots: ['/DIR'] } }],
  'tools.available': [{ policy: { tools: { available: ['execute'] } } }],
  'tools.preapproved': [{ policy: { tools: { preapproved: ['execute'] } } }],
  'tools.denied': [{ policy: { tools: { denied: ['execute'] } } }],
  maxSteps: [{ policy: { maxSteps: 5 } }],
  maxBudgetUsd: [{ policy: { maxBudgetUsd: 5 } }],
}

const COUNTED_BY_US = ['maxSteps', 'maxBudgetUsd']

/** Every agent takes the first; some hold a limit only in the second. */
const BASES: readonly Policy[] = [
  { approval: 'auto-all', sandbox: 'none' },
  { approval: 'ask-dangerous', sandbox: 'workspace-write' },
]

function optionCell({ agent, kind }: Unit, option: string, wishes: readonly Wish[]): string {
  let refusal: string | undefined
  for (const base of BASES) {
    const without = nativeOf(agent, kind, base, {})
    if ('refused' in without) continue
    for (const { policy, options = {} } of wishes) {
      const native = nativeOf(agent, kind, { ...base, ...policy }, options)
      if ('refused' in native) {
        refusal ??= native.refused
        continue
      }
      const own = native.parts.filter((part) => !without.parts.includes(part))
      const words = own.length > 0 ? own.map(code).join(' ') : accepted(option)
      return base === BASES[0] ? words : `with \`${base.sandbox}\`: ${words}`
    }
  }
  return `${REFUSED}${refusal}`
}

/** The setting is not on the command line. */
function accepted(option: string): string {
  return COUNTED_BY_US.includes(option) ? 'counted by us' : 'by its protocol'
}

/** Agents whose launches do the same share a table. */
function optionTables(): string {
  const groups = Map.groupBy(held, (agent) => optionTable(agent))
  return [...groups]
    .map(([text, same]) => {
      const ids = same.map(({ id }) => id)
      const title = heading(ids).replace('###', '### Options of')
      return [title, ...(ids.length > 3 ? [`${ids.map(code).join(', ')}.`] : []), text].join('\n\n')
    })
    .join('\n\n')
}

function optionTable(agent: Agent): string {
  const kinds = kindsOf(agent)
  const rows = Object.entries(WISHES).map(([option, wishes]) => [
    code(option),
    ...kinds.map((kind) => optionCell({ agent, kind }, option, wishes)),
  ])
  const reasons = new Set(rows.flatMap(([, ...cells]) => cells))
  // If the agent never asks, all rows of the table would be equal.
  if ([...reasons].every((cell) => cell.startsWith(REFUSED)))
    return `All of them are ${[...reasons].join(', ').replaceAll(`, ${REFUSED}`, ', ')}.`
  return table(['option', ...kinds], rows)
}

/** The decider of a request about a tool, from the rule itself, for a file inside the workspace and one outside. */
function approvals(): string {
  const policies: readonly Policy[] = [
    ...Approval.options.map((approval): Policy => ({ approval, sandbox: 'none' })),
    { approval: 'auto-all', sandbox: 'read-only' },
  ]
  const head = policies.map(({ approval, sandbox }) =>
    sandbox === 'none' ? code(approval) : `${code(approval)} and ${code(sandbox)}`,
  )
  const rows = ToolKind.options.map((kind) => [
    code(kind),
    ...policies.map((policy) => verdict(kind, policy)),
  ])
  return table(['tool', ...head], rows)
}

function verdict(toolKind: ToolKind, policy: Policy): string {
  const request: RequestOpened = {
    type: 'request.opened',
    requestId: 'r',
    kind: 'permission',
    blocking: true,
    toolKind,
    locations: [{ path: '/file' }],
    inputDigest: '',
    options: [],
  }
  const allows = (inside: boolean) => {
    const answer = answerFor(request, { policy, hooked: false, attended: true, isInside: () => inside })
    return typeof answer === 'object' && answer.decision === 'allow'
  }
  if (allows(false)) return 'runs'
  return allows(true) ? 'runs inside the workspace, else asks' : 'asks'
}

/** Whether these are all launches of their agent. */
const isWhole = (same: readonly Unit[]) => same.every(({ agent }) => kindsOf(agent).length === same.length)

/** Which approvals and sandboxes each launch accepts, for the top of the page; launches that accept the same share a row. */
function summary(): string {
  const groups = Map.groupBy(units, ({ agent, kind }) => {
    const takes = (approval: Approval, sandbox: Sandbox) =>
      'parts' in nativeOf(agent, kind, { approval, sandbox }, {})
    const approvals = Approval.options.map((approval) => {
      const sandbox = Sandbox.options.find((one) => takes(approval, one))
      if (sandbox === 'none') return 'yes'
      return sandbox === undefined ? 'refused' : `with ${code(sandbox)}`
    })
    const sandboxes = (['read-only', 'workspace-write'] as const).map((sandbox) =>
      Approval.options.some((approval) => takes(approval, sandbox)) ? 'yes' : 'refused',
    )
    return row([...approvals, ...sandboxes])
  })
  const rows = [...groups].map(([marks, same]) => {
    const names = [...Map.groupBy(same, ({ agent }) => agent.id)].map(([id, of]) =>
      isWhole(of) ? code(id) : `${code(id)} ${of.map(({ kind }) => kind).join(', ')}`,
    )
    return `| ${names.join(', ')} ${marks}`
  })
  const head = ['agent', ...[...Approval.options, 'read-only', 'workspace-write'].map(code)]
  return [table(head, []), ...rows].join('\n')
}

/** The page with its tables as they are now; what stands between the marks is replaced. */
export function policyPage(page: string): string {
  const tables: Readonly<Record<string, string>> = {
    summary: summary(),
    approvals: approvals(),
    grids: grids(),
    options: optionTables(),
  }
  return Object.entries(tables).reduce((text, [name, made]) => {
    const mark = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- end -->)`)
    if (!mark.test(text)) throw new TypeError(`${PAGE} has no place for ${name}`)
    return text.replace(mark, (_, begin, end) => `${begin}\n${made}\n\n${end}`)
  }, page)
}

if (import.meta.main) writeFileSync(PAGE, policyPage(readFileSync(PAGE, 'utf8')))
