/** The places where a server can be killed, in the order of the path of an event. */
export const POINTS = [
  'before-append',
  'in-transaction',
  'after-commit-before-ack',
  'after-ack-before-show',
  'during-checkpoint',
  'after-spawn-before-record',
  'before-answer-written',
  'during-recovery',
  'during-drain',
] as const
export type Point = (typeof POINTS)[number]

/** At which point a server kills itself, and how often it passes there before it does. Without one it lives. */
export interface Plan {
  point?: Point
  passes: number
}

const VARIABLE = 'CRASH_PLAN'

/** The threads of a process share its environment, so this reaches the one that writes as well. */
export function planVariable(plan: Plan): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(plan) }
}

/** True once: when the point of the plan is passed for the last time. */
export function failpoints(): (point: Point) => boolean {
  const plan: Plan = JSON.parse(process.env[VARIABLE] ?? '{"passes":0}')
  let left = plan.passes
  return (point) => point === plan.point && left-- === 0
}

/** Ends this process with all its threads, and leaves nothing time to tidy up. */
export function die(): void {
  process.kill(process.pid, 'SIGKILL')
}
