/** How a check went. A warning needs no action now; a problem keeps something from working. */
export type Health = 'ok' | 'warning' | 'problem'

/** The result of one check. */
export interface Check {
  /** What was checked. */
  name: string
  health: Health
  /** What was found. */
  text: string
  /** The command that fixes it, or what to do. */
  fix?: string
}

export const ok = (name: string, text: string): Check => ({ name, health: 'ok', text })
export const warning = (name: string, text: string, fix: string): Check => ({
  name,
  health: 'warning',
  text,
  fix,
})
export const problem = (name: string, text: string, fix: string): Check => ({
  name,
  health: 'problem',
  text,
  fix,
})
