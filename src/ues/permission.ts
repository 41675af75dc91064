import { MainstemError, type Policy } from '../model/index.ts'
import type { AgentOptions, PermissionMode, PermissionTier } from './adapter.ts'

type Permission = Pick<Policy, 'approval' | 'sandbox'>

const PLAN: Permission = { approval: 'ask', sandbox: 'read-only' }
const ASK: Permission = { approval: 'ask', sandbox: 'none' }
const ACCEPT_EDITS: Permission = { approval: 'auto-edit', sandbox: 'none' }
const BYPASS: Permission = { approval: 'auto-all', sandbox: 'full-access' }

const TIERS: ReadonlyMap<PermissionTier, Permission> = new Map([
  ['dry-run', PLAN],
  ['supervised', ACCEPT_EDITS],
  ['autonomous', BYPASS],
])

/** Strictest first. */
const MODES: ReadonlyMap<PermissionMode, Permission> = new Map([
  ['plan', PLAN],
  ['ask', ASK],
  ['default', { approval: 'ask-dangerous', sandbox: 'none' }],
  ['accept_edits', ACCEPT_EDITS],
  ['bypass', BYPASS],
])

/** The stricter of a tier and a mode. With neither, every tool call needs approval. */
export function permissionOf({ permissionTier, permissionMode }: AgentOptions): Permission {
  const wanted = [
    meaningOf('permissionTier', TIERS, permissionTier),
    meaningOf('permissionMode', MODES, permissionMode),
  ]
  return [...MODES.values()].find((permission) => wanted.includes(permission)) ?? ASK
}

/** Refuses unknown values, because callers without types may pass any string. */
function meaningOf<Word extends string>(
  option: string,
  words: ReadonlyMap<Word, Permission>,
  word: Word | undefined,
): Permission | undefined {
  if (word === undefined) return undefined
  const meaning = words.get(word)
  if (meaning) return meaning
  throw new MainstemError(
    'invalid_request',
    `${option} must be one of ${[...words.keys()].join(', ')}, not "${word}"`,
  )
}
