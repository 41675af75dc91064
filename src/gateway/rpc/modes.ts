import { z } from 'zod'
import type { Policy } from '../../model/index.ts'

/** The permission modes of this API. */
export const Mode = z.enum(['auto', 'code', 'plan', 'ask'])
type Mode = z.infer<typeof Mode>

const MEANING: Readonly<Record<Mode, Pick<Policy, 'approval' | 'sandbox'>>> = {
  auto: { approval: 'auto-all', sandbox: 'full-access' },
  code: { approval: 'auto-edit', sandbox: 'none' },
  plan: { approval: 'ask', sandbox: 'read-only' },
  ask: { approval: 'ask', sandbox: 'none' },
}

/** Applies a mode to a policy; other limits stay. */
export function inMode(policy: Policy, mode: Mode): Policy {
  return { ...policy, ...MEANING[mode] }
}

/** Returns the mode closest to a policy; between two modes, the stricter one. */
export function modeOf({ approval, sandbox }: Policy): Mode {
  if (sandbox === 'read-only') return 'plan'
  if (approval === 'auto-all') return 'auto'
  return approval === 'auto-edit' ? 'code' : 'ask'
}
