import { MainstemError } from '../model/index.ts'

/** Refuses a write of an owner that lost the session, whatever it would write. */
export function checkFence(session: string, current: number, fence: number): void {
  if (fence === current) return
  throw new MainstemError(
    'fenced',
    `the lease of session ${session} was lost: its fence is ${current}, the write has ${fence}`,
  )
}
