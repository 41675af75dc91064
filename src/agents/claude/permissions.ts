import type { RequestOption, Scope } from '../../model/index.ts'
import { type Fields, isFields, list, text, texts } from '../kit/fields.ts'

/** Permission updates that the agent suggests to grant along with an approval. */
export type Suggestions = readonly unknown[]

const forSession = (item: unknown) => isFields(item) && text(item, 'destination') === 'session'

/**
 * A suggestion for the local settings is written to the project, so it is offered as "always". The same rule can be
 * granted for the session only.
 */
export function optionsFor(suggestions: Suggestions): RequestOption[] {
  const options: RequestOption[] = [
    { id: 'allow', label: 'Allow once', effect: 'allow', scope: 'once', default: true },
  ]
  if (suggestions.length > 0) {
    const label = `Allow for this session${inWords(suggestions)}`
    options.push({ id: 'allow_session', label, effect: 'allow', scope: 'session' })
  }
  if (!suggestions.every(forSession)) {
    const label = `Always allow${inWords(suggestions)}`
    options.push({ id: 'allow_always', label, effect: 'allow', scope: 'always' })
  }
  options.push({ id: 'deny', label: 'Deny', effect: 'deny', scope: 'once' })
  return options
}

/** The updates that an answer of this scope grants beyond the one call. */
export function grantsOf(suggestions: Suggestions, scope: Scope | undefined): unknown[] {
  if (scope === 'always') return [...suggestions]
  if (scope !== 'session') return []
  return suggestions.filter(isFields).map((suggestion) => ({ ...suggestion, destination: 'session' }))
}

/** The scope of an answer that granted these updates. */
export function scopeOf(granted: Suggestions): Scope {
  if (granted.length === 0) return 'once'
  return granted.every(forSession) ? 'session' : 'always'
}

/** An approval of more than one call must show what else it allows. */
function inWords(suggestions: Suggestions): string {
  const words = suggestions.filter(isFields).flatMap(grantWords)
  return words.length === 0 ? '' : `: ${words.join(', ')}`
}

function grantWords(suggestion: Fields): string[] {
  const mode = text(suggestion, 'mode')
  const rules = list(suggestion, 'rules').filter(isFields).map(ruleWords)
  return [
    ...rules,
    ...(texts(suggestion, 'directories') ?? []).map((directory) => `directory ${directory}`),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
  ]
}

function ruleWords(rule: Fields): string {
  const content = text(rule, 'ruleContent')
  const tool = text(rule, 'toolName') ?? '?'
  return content === undefined ? tool : `${tool}(${content})`
}
