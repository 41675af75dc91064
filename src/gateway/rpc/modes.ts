import * as z from 'zod'
import { type Policy, toMainstemError } from '../../model/index.ts'

/** The permission modes of this API. */
export const Mode = z.enum(['auto', 'code', 'plan', 'ask'])
type Mode = z.infer<typeof Mode>

const MEANING: Readonly<Record<Mode, Pick<Policy, 'approval' | 'sandbox'>>> = {
  auto: { approval: 'auto-all', sandbox: 'full-access' },
  code: { approval: 'auto-edit', sandbox: 'none' },
  plan: { approval: 'ask', sandbox: 'read-only' },
  ask: { approval: 'ask', sandbox: 'none' },
}

/**
 * Applies a mode to a policy and passes it to `use`; other limits stay. Some agents edit without approval only in their
 * own sandbox: `code` is that sandbox there, which allows less.
 */
export async function inMode<T>(policy: Policy, mode: Mode, use: (policy: Policy) => Promise<T>): Promise<T> {
  try {
    return await use({ ...policy, ...MEANING[mode] })
  } catch (thrown) {
    if (mode !== 'code' || toMainstemError(thrown).code !== 'unsupported_option') throw thrown
    const sandboxed: Policy = { ...policy, ...MEANING[mode], sandbox: 'workspace-write' }
    return use(sandboxed).catch(() => Promise.reject(thrown))
  }
}

/** Returns the mode closest to a policy; between two modes, the stricter one. */
export function modeOf({ approval, sandbox }: Policy): Mode {
  if (sandbox === 'read-only') return 'plan'
  if (approval === 'auto-all') return 'auto'
  return approval === 'auto-edit' ? 'code' : 'ask'
}
