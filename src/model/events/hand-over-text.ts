import type { SessionHandedOver } from './session.types.ts'

/** `codex continues the session of claude (opus), with a recap of it`. */
export function handOverText({ agent, model, from, omitted }: SessionHandedOver): string {
  const of = (id: string, used: string | undefined) => (used === undefined ? id : `${id} (${used})`)
  const recap = omitted === undefined ? 'a recap of it' : `a recap of it without its first ${omitted} turns`
  return `${of(agent, model)} continues the session of ${of(from.agent, from.model)}, with ${recap}`
}
