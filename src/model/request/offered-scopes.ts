import type { RequestOption, Scope } from './request.types.ts'

const NARROWEST_FIRST: readonly Scope[] = ['once', 'session', 'always']

/** The scopes in which the agent accepts an `allow`, narrowest first. An agent that lists none accepts it once. */
export function offeredScopes({ options }: { readonly options: readonly RequestOption[] }): Scope[] {
  const offered = options.filter(({ effect }) => effect === 'allow').map(({ scope }) => scope)
  return offered.length === 0 ? ['once'] : NARROWEST_FIRST.filter((scope) => offered.includes(scope))
}
