import { z } from 'zod'
import type { Policy } from '../../model/index.ts'

/** How this face names what an agent may do. */
export const Mode = z.enum(['auto', 'code', 'plan', 'ask'])
type Mode = z.infer<typeof Mode>

const MEANING: Readonly<Record<Mode, Pick<Policy, 'approval' | 'sandbox'>>> = {
  auto: { approval: 'auto-all', sandbox: 'full-access' },
  code: { approval: 'auto-edit', sandbox: 'none' },
  plan: { approval: 'ask', sandbox: 'read-only' },
  ask: { approval: 'ask', sandbox: 'none' },
}

/** The policy with what the mode says; its other limits stay. */
export function inMode(policy: Policy, mode: Mode): Policy {
  return { ...policy, ...MEANING[mode] }
}

/** The mode that is nearest to a policy. One that lies between two is named by the stricter. */
export function modeOf({ approval, sandbox }: Policy): Mode {
  if (sandbox === 'read-only') return 'plan'
  if (approval === 'auto-all') return 'auto'
  return approval === 'auto-edit' ? 'code' : 'ask'
}
