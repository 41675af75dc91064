import type { Credential } from '../../compose/credentials.ts'
import type { AgentReadiness, AgentState } from '../../compose/readiness.ts'
import type { Capabilities } from '../../model/index.ts'
import type { Screen } from './screen.ts'
import { type Style, widthOf } from './wrap.ts'

type Colour = 'green' | 'yellow' | 'red' | 'dim'

/** In the order in which they are shown. */
const STATES: Readonly<Record<AgentState, { mark: string; words: string; colour: Colour }>> = {
  ready: { mark: '✔', words: 'ready', colour: 'green' },
  installed: { mark: '?', words: 'installed', colour: 'yellow' },
  needs_login: { mark: '!', words: 'needs login', colour: 'yellow' },
  broken: { mark: '✖', words: 'broken', colour: 'red' },
  built_in: { mark: '✔', words: 'built in', colour: 'green' },
  missing: { mark: '·', words: 'missing', colour: 'dim' },
}

/** A program that could be used, and that nobody has tested. */
const UNTESTED = { mark: '?', words: 'untested', colour: 'yellow' } as const

/** The capabilities that differ between launches. */
const CAPABILITIES: readonly (readonly [keyof Capabilities, string])[] = [
  ['deltas', 'streams text'],
  ['permissions', 'asks permission'],
  ['questions', 'asks questions'],
  ['planApproval', 'plan approval'],
  ['steer', 'steering'],
  ['resume', 'resume'],
  ['images', 'images'],
  ['structuredOutput', 'structured output'],
  ['cost', 'cost'],
]

const STATE_COLUMN = 13
const LABEL_COLUMN = 11

const ORDER = Object.keys(STATES)

/** A card for each agent, usable ones first; one line lists those that are not installed. */
export function renderAgents(screen: Screen, agents: readonly AgentReadiness[]): string {
  const idColumn = Math.max(...agents.map(({ id }) => id.length)) + 2
  const rank = ({ state, id }: AgentReadiness) => `${ORDER.indexOf(state)} ${id}`
  const sorted = agents.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  let out = ''
  let before: AgentState | undefined
  for (const agent of sorted) {
    const isMissing = agent.state === 'missing'
    if (!isMissing || before !== 'missing') out += screen.gap()
    before = agent.state
    out += headline(screen, agent, idColumn)
    if (!isMissing) for (const [label, text] of details(agent)) out += detail(screen, label, text)
  }
  return out
}

function headline(screen: Screen, agent: AgentReadiness, idColumn: number): string {
  const { id, state, fix, note = '' } = agent
  const { colors } = screen
  const { mark, words, colour } = agent.untested !== undefined && state === 'ready' ? UNTESTED : STATES[state]
  const rest = state === 'missing' ? (fix ?? note) : versionWords(agent)
  const style: Style = colors[colour]
  const [name, column] = [id.padEnd(idColumn), words.padEnd(STATE_COLUMN)]
  if (rest === '') return screen.line('', [style, `${mark} `], [colors.bold, name], [style, words])
  const isCut = state === 'missing' && 2 + name.length + column.length + widthOf(rest) > screen.columns()
  // A command that is broken in two cannot be copied.
  if (isCut)
    return (
      screen.line('', [style, `${mark} `], [colors.bold, name], [style, words]) + screen.block('    ', rest)
    )
  const lead = style(`${mark} `) + colors.bold(name) + style(column)
  return screen.block(' '.repeat(2 + name.length + column.length), rest, undefined, lead)
}

function versionWords({ program, version, testedVersion, fit, untested, note }: AgentReadiness): string {
  if (program === undefined) return ''
  if (version === undefined) return 'version unknown'
  if (untested !== undefined && note?.includes(untested) !== true) return `${version}, ${untested}`
  if (fit === undefined) return version
  return fit === 'tested' ? `${version}, tested` : `${version}, ${fit} than the tested ${testedVersion}`
}

function detail(screen: Screen, label: string, text: string): string {
  const margin = ' '.repeat(4 + LABEL_COLUMN)
  return screen.block(margin, text, undefined, `    ${screen.colors.dim(label.padEnd(LABEL_COLUMN))}`)
}

function details(agent: AgentReadiness): [string, string][] {
  const { state, program, sessions, launches, note, fix } = agent
  const billed = billedWords(agent)
  const rows: [string, string | undefined][] = [
    ['program', program],
    ['billed', billed],
    ['sessions', sessions],
    ...Object.entries(launches).map(([kind, can]): [string, string] => [kind, capabilityWords(can)]),
    ['note', note],
    [state === 'broken' ? 'install' : 'log in', fix],
  ]
  return rows.flatMap(([label, text]) => (text === undefined ? [] : [[label, text]]))
}

function capabilityWords(capabilities: Capabilities): string {
  const has = CAPABILITIES.filter(([key]) => capabilities[key] !== false && capabilities[key] !== 'none')
  const words = [...has.map(([, text]) => text), ...(capabilities.verbs ?? [])]
  return words.length === 0 ? 'text only' : words.join(', ')
}

function billedWords({ credentials, billedBySettings }: AgentReadiness): string | undefined {
  const [first, ...rest] = credentials.map(nameOf)
  if (first === undefined || rest.length === 0) return first
  if (billedBySettings) return `${[first, ...rest].join(' or ')}, as its own settings say`
  return `${first}, before ${rest.join(', ')}`
}

function nameOf(credential: Credential): string {
  if ('file' in credential) return credential.file
  const { variable, launch } = credential
  return launch === undefined ? variable : `${variable} (${launch} only)`
}
