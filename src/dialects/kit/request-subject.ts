import type { RequestOpened } from '../../model/events/request.ts'

/** Returns whether a person must decide, whether or not one is available. */
export function needsPerson({ answeredBy = 'person' }: RequestOpened): boolean {
  return answeredBy === 'person' || answeredBy === 'nobody'
}

/** Returns the tool and its action, such as `Bash: rm -r build`; empty when the agent reports neither. */
export function subjectOf(request: RequestOpened): string {
  const { tool, title } = request
  const command = commandOf(request.input)
  const about = command === undefined ? (pathsOf(request) ?? title) : withReason(command, request)
  return [...new Set([tool, about])].filter((part) => part !== undefined).join(': ')
}

/** The command line of a shell tool. */
function commandOf(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('command' in input)) return undefined
  const { command } = input
  if (Array.isArray(command)) return command.join(' ')
  return typeof command === 'string' && command !== '' ? command : undefined
}

/** Some agents explain a command only in the title. */
function withReason(command: string, { title, input }: RequestOpened): string {
  const isShown = title === undefined || title.includes(command) || JSON.stringify(input).includes(title)
  return isShown ? command : `${command} (${title})`
}

const MOST_PATHS = 3

function pathsOf({ locations = [] }: RequestOpened): string | undefined {
  if (locations.length === 0) return undefined
  const paths = [...new Set(locations.map(({ path }) => path))]
  const more = paths.length > MOST_PATHS ? ` and ${paths.length - MOST_PATHS} more` : ''
  return paths.slice(0, MOST_PATHS).join(', ') + more
}
