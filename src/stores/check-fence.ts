import { MainstemError } from '../model/index.ts'

/** Refuses a write with a fence that is not the current one. */
export function checkFence(session: string, current: number, fence: number): void {
  if (fence === current) return
  throw new MainstemError(
    'fenced',
    `the lease of session ${session} was lost: its fence is ${current}, the write has ${fence}`,
  )
}
