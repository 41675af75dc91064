import type { Policy } from '../../../model/index.ts'
import { compareVersions } from '../../../model/version.ts'
import type { Emitted } from '../../agent.ts'

/** Approval × sandbox, as one name. */
export type PolicyCell = `${Policy['approval']} ${Policy['sandbox']}`

/** Mode ids in order of preference; a cell that is missing cannot be kept by the agent. */
export type Modes = Readonly<Partial<Record<PolicyCell, readonly string[]>>>

/**
 * How one agent departs from the letter of the protocol. Texts are data and not code: a release may change them.
 * Prefixes and not patterns where every chunk is looked at.
 */
export interface AcpQuirks {
  /** Chunks without a message id that begin so are remarks of the program, not words of the model. */
  readonly remarks: readonly { readonly starts: string; readonly level: 'info' | 'warning' }[]
  /** A chunk that begins and ends so says: the answer broke off and is being repeated. */
  readonly retry?: { readonly starts: string; readonly ends: string }
  /** A chunk that begins so may be the failure of the turn, told as an answer; how the turn ends shows which. */
  readonly failure?: string
  /** So may one without a message id: words of the model have one. The usage of a turn that failed is null. */
  readonly failureHasNoId?: true
  /** A chunk that begins so names the new mode. */
  readonly modeUpdate?: string
  /** Tool ids are the tool's name, this, and the rest. */
  readonly nameEnd?: string
  /** What a result says when its call was stopped, or refused by the agent's own rules. */
  readonly cancelled?: RegExp
  readonly denied?: RegExp
  /** Tools that start a sub-agent, and tools that ask to leave a plan. */
  readonly subagentTools: readonly string[]
  readonly planTools: readonly string[]
  /** A diff holds the whole file before and after, not the lines that were swapped. */
  readonly wholeDiffs: boolean
  /** The usage at the end of a turn is that of its last model call alone. */
  readonly usageOfLastStep: boolean
  /** History goes on after the answer to `session/load`; the list of commands follows it. */
  readonly replaysLate: boolean
  /** The command line names the model, so nobody has to set it. */
  readonly modelAtStart: boolean
  /** Options that grant more than their kind says; never chosen for anybody. */
  readonly broadOptions: readonly string[]
  /** What each model call used is told, so calls can be counted. */
  readonly tellsSteps?: true
  /** Removes the prompt of a turn from its context if its only model call was cut off, by a cancel or by the agent itself. */
  readonly forgetsCancelled?: true
  /** Skips servers that would have to be started, and says nothing. */
  readonly serversByUrl?: true
  /** Its forms have the question as the title of a field, and a headline as the description. */
  readonly questionInTitle?: true
  /** Lines on standard error that contain these words report what the protocol does not carry. */
  readonly warnings?: readonly { readonly words: string; readonly notice: Emitted }[]
  readonly modes: Modes
  /** The launch passes permission rules, and a running process keeps the rules it started with. */
  readonly rulesAtStart?: true
  /** Why a cell without a mode is refused, where the reason is not that a mode is missing. */
  readonly unenforced?: string
  /** The quirks of this version and later ones. */
  readonly later?: { readonly from: string; readonly quirks: AcpQuirks }
}

/** The quirks of one version of an agent; those of the tested version where it is unknown. */
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

/** The cells of an agent without a sandbox of its own. */
export function modesOf({ ask, edit, all, readOnly }: ModeIds): Modes {
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
 * An agent nobody has recorded. What it cannot do by a mode, we do by answering for the user; but a mode that is
 * only called "plan" is not trusted to keep files as they are.
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
