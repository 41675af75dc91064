import { toMainstemError } from '../model/index.ts'

/** Whether the store refuses this session because its stored data is damaged. Other sessions are not affected. */
export function isDamaged(thrown: unknown, session: string): boolean {
  const { code, details } = toMainstemError(thrown)
  return code === 'storage_failed' && details?.session === session
}
