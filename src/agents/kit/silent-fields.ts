import type { Fields } from './fields.ts'

/**
 * The native fields of an agent that no event has, each with the reason. A key is the end of a path (`message.id`),
 * which includes everything below it; a frame by its names (`result`, `system/status`); a path within such a frame
 * (`user message.content.text`); or `path=start` for strings with this beginning.
 */
export type SilentFields = Readonly<Record<string, string>>

/** A string of a native frame that is in none of its events. */
export interface Leaf {
  readonly path: readonly string[]
  readonly value: string
}

/** Tells whether a string, with the name of its field, counts and is in no event. */
export type IsMissing = (value: string, key: string) => boolean

interface Pattern {
  /** The end of a path. */
  readonly end: string
  readonly frame: string | undefined
  readonly start: string | undefined
}

/** Finds strings of frames that are not on the list of silent fields. */
export class SilentList {
  readonly #keys: ReadonlySet<string>
  /** By the last name of their path. */
  readonly #patterns = new Map<string, Pattern[]>()

  constructor(fields: SilentFields) {
    this.#keys = new Set(Object.keys(fields))
    for (const key of this.#keys) {
      const pattern = patternOf(key)
      const last = pattern.end.split('.').at(-1) ?? ''
      const others = this.#patterns.get(last)
      if (others) others.push(pattern)
      else this.#patterns.set(last, [pattern])
    }
  }

  /** The strings that the test selects and that the list does not name. */
  unlisted(frame: Fields, isMissing: IsMissing): Leaf[] {
    const found: Leaf[] = []
    this.#collect(frame, [], isMissing, found)
    // Almost always nothing is found, so the names of the frame are computed late.
    if (found.length === 0) return found
    const names = frameNames(frame)
    if (names.some((name) => this.#keys.has(name))) return []
    return found.filter(({ path }) => !this.#isListedIn(names, path))
  }

  /** The hottest loop of all: most strings are ruled out by the test, without a look at the list. */
  #collect(fields: Fields, path: string[], isMissing: IsMissing, found: Leaf[]): void {
    for (const key in fields) {
      const value = fields[key]
      if (typeof value === 'string') {
        if (isMissing(value, key)) this.#add(value, key, path, found)
      } else if (typeof value === 'object' && value !== null) {
        path.push(key)
        if (!this.#covers(key, path)) {
          if (Array.isArray(value)) this.#collectItems(value, key, path, isMissing, found)
          else this.#collect(value as Fields, path, isMissing, found)
        }
        path.pop()
      }
    }
  }

  #collectItems(
    items: readonly unknown[],
    key: string,
    path: string[],
    isMissing: IsMissing,
    found: Leaf[],
  ): void {
    for (const item of items) {
      if (typeof item === 'string') {
        if (isMissing(item, key)) this.#add(item, key, path.slice(0, -1), found)
      } else if (Array.isArray(item)) this.#collectItems(item, key, path, isMissing, found)
      else if (typeof item === 'object' && item !== null)
        this.#collect(item as Fields, path, isMissing, found)
    }
  }

  #add(value: string, key: string, above: readonly string[], found: Leaf[]): void {
    const path = [...above, key]
    const patterns = this.#patterns.get(key)
    if (!patterns?.some((pattern) => covers(pattern, path) || begins(pattern, path, value)))
      found.push({ path, value })
  }

  #covers(key: string, path: readonly string[]): boolean {
    const patterns = this.#patterns.get(key)
    if (patterns === undefined) return false
    for (const pattern of patterns) if (covers(pattern, path)) return true
    return false
  }

  #isListedIn(names: readonly string[], path: readonly string[]): boolean {
    return path.some((name, index) =>
      this.#patterns
        .get(name)
        ?.some(
          ({ end, frame }) => frame !== undefined && names.includes(frame) && endsWith(path, end, index + 1),
        ),
    )
  }
}

function patternOf(key: string): Pattern {
  const [place = '', start] = key.split('=')
  const space = place.lastIndexOf(' ')
  return {
    end: place.slice(space + 1),
    frame: space < 0 ? undefined : place.slice(0, space),
    start,
  }
}

function covers({ end, frame, start }: Pattern, path: readonly string[]): boolean {
  return frame === undefined && start === undefined && endsWith(path, end, path.length)
}

function begins({ end, start }: Pattern, path: readonly string[], value: string): boolean {
  return start !== undefined && value.startsWith(start) && endsWith(path, end, path.length)
}

/** Whether the first `length` names of the path end with these. A name may contain a dot. */
function endsWith(path: readonly string[], end: string, length: number): boolean {
  if (path[length - 1] === end) return true
  if (!end.includes('.')) return false
  return `.${path.slice(0, length).join('.')}`.endsWith(`.${end}`)
}

/** The words that name the kind of a frame, in any of the protocols. */
export function frameNames(frame: Fields): string[] {
  const at = (...keys: string[]) => keys.reduce<unknown>((value, key) => property(value, key), frame)
  const kinds = [
    at('type'),
    at('method'),
    at('params', 'update', 'sessionUpdate'),
    at('properties', 'part', 'type'),
    at('item', 'type'),
    at('params', 'item', 'type'),
  ].filter((kind) => typeof kind === 'string')
  const refinements = [
    at('subtype'),
    at('request', 'subtype'),
    at('role'),
    at('message', 'role'),
    at('status'),
    at('params', 'item', 'type'),
    at('properties', 'info', 'role'),
    at('event', 'type'),
    at('assistantMessageEvent', 'type'),
  ].filter((word) => typeof word === 'string')
  return [...kinds, ...kinds.flatMap((kind) => refinements.map((word) => `${kind}/${word}`))]
}

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}
