import type { Policy } from '../../../../model/index.ts'
import type { Verb } from '../../../../model/session/capability.types.ts'
import { compareVersions } from '../../../../model/version.ts'
import type { Emitted } from '../../../agent.ts'

/** Approval × sandbox as one key. */
export type PolicyCell = `${Policy['approval']} ${Policy['sandbox']}`

/** Mode ids in order of preference; the agent cannot enforce a missing cell. */
export type AcpModes = Readonly<Partial<Record<PolicyCell, readonly string[]>>>

/**
 * The deviations of one agent from the protocol. Texts are data, because a release may change them; they are prefixes
 * instead of patterns, because every chunk is checked.
 */
export interface AcpQuirks {
  /** Chunks without a message id and with this prefix come from the program, not from the model. */
  readonly remarks: readonly { readonly starts: string; readonly level: 'info' | 'warning' }[]
  /** A chunk with this prefix and suffix reports that the answer broke off and is repeated. */
  readonly retry?: { readonly starts: string; readonly ends: string }
  /** A chunk with this prefix may be the failure of the turn, sent as an answer; the end of the turn decides. */
  readonly failure?: string
  /** A chunk without a message id may be a failure too: model output has one. The usage of a failed turn is null. */
  readonly failureHasNoId?: true
  /** A chunk with this prefix names the new mode. */
  readonly modeUpdate?: string
  /** Tool ids consist of the tool's name, this separator, and the rest. */
  readonly nameEnd?: string
  /** Patterns of results whose call was cancelled, or denied by the agent's rules. */
  readonly cancelled?: RegExp
  readonly denied?: RegExp
  /** Matches the result of a call that the agent refused to run, and reports as completed. */
  readonly blocked?: RegExp
  /** Tools that start a sub-agent, and tools that request to leave plan mode. */
  readonly subagentTools: readonly string[]
  readonly planTools: readonly string[]
  /** The meaning of the description of a sub-agent's session; by default it is only a display name. */
  readonly describesSubagents?: 'prompt' | 'agentType'
  /** A diff contains the whole file before and after, not the replaced lines. */
  readonly wholeDiffs: boolean
  /** The usage at the end of a turn is that of its last model call only. */
  readonly usageOfLastStep: boolean
  /** The usage at the end of a turn is the total of the session in this process, sub-agents included. */
  readonly usageIsTotal?: true
  /** The usage by model at the end of a turn covers sub-agents and calls of the program itself, as its cost does. */
  readonly countsByModel?: true
  /** The history continues after the response to `session/load`; the list of commands follows it. */
  readonly replaysLate: boolean
  /** The `rawInput` of a permission request describes the call in other fields than the call's own `rawInput`. */
  readonly describesRequests?: true
  /** The command line selects the model, so it need not be set. */
  readonly modelAtStart: boolean
  /** Options that grant more than their kind implies; never selected automatically. */
  readonly broadOptions: readonly string[]
  /** The agent reports the usage of each model call, so calls can be counted. */
  readonly tellsSteps?: true
  /** Removes the prompt of a turn from its context if its only model call was cut off, by a cancel or by the agent itself. */
  readonly forgetsCancelled?: true
  /** Commands that do not apply a setting which was changed after the last prompt. */
  readonly staleVerbs?: readonly Verb[]
  /** Silently skips servers that it would have to start. */
  readonly serversByUrl?: true
  /** Permission requests for calls whose ids begin so are questions, with an option for each answer. */
  readonly questionIds?: string
  /** Its forms have the question as the title of a field, and a headline as the description. */
  readonly questionInTitle?: true
  /** Lines on standard error with this text report conditions that the protocol cannot express. */
  readonly warnings?: readonly { readonly text: string; readonly notice: Emitted }[]
  readonly modes: AcpModes
  /** The launch passes permission rules, and a running process keeps its rules. */
  readonly rulesAtStart?: true
  /** Why a cell without a mode is rejected, if the reason is not a missing mode. */
  readonly unenforced?: string
  /** The quirks of this version and later ones. */
  readonly later?: { readonly from: string; readonly quirks: AcpQuirks }
}

/** The quirks of one version of an agent; those of the tested version if it is unknown. */
export function quirksAt(quirks: AcpQuirks, version: string | undefined): AcpQuirks {
  const { later } = quirks
  return later && version !== undefined && compareVersions(version, later.from) >= 0 ? later.quirks : quirks
}

interface ModeIds {
  ask: readonly string[]
  edit: readonly string[]
  all: readonly string[]
  readOnly?: readonly string[]
}

/** The cells of an agent without its own sandbox. */
export function modesOf({ ask, edit, all, readOnly }: ModeIds): AcpModes {
  return {
    'ask none': ask,
    'ask full-access': ask,
    'ask-dangerous none': ask,
    'ask-dangerous full-access': ask,
    'auto-edit none': edit,
    'auto-edit full-access': edit,
    'auto-all none': all,
    'auto-all full-access': all,
    ...(readOnly && {
      'ask read-only': readOnly,
      'ask-dangerous read-only': readOnly,
      'auto-all read-only': readOnly,
    }),
  }
}

/**
 * An agent without recordings. Missing modes are replaced by our answers to its requests; but a mode that is only named
 * "plan" is not trusted to prevent file changes.
 */
export const PLAIN: AcpQuirks = {
  remarks: [],
  subagentTools: [],
  planTools: [],
  wholeDiffs: false,
  usageOfLastStep: false,
  replaysLate: false,
  modelAtStart: false,
  broadOptions: [],
  modes: modesOf({
    ask: ['default', 'ask', 'agent'],
    edit: ['acceptEdits', 'autoEdit', 'auto-edit', 'default', 'ask', 'agent'],
    all: ['yolo', 'bypassPermissions', 'full-access', 'agent-full-access', 'default', 'ask', 'agent'],
    readOnly: ['read-only'],
  }),
}
