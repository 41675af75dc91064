import type { Command } from 'commander'
import { runningServer } from './contexts/connect.ts'
import { refOf } from './turn/session-ref.ts'

type Shell = 'bash' | 'zsh' | 'fish'

interface Words {
  name: string
  description: string
  /** Options, and the values of arguments that have a fixed list. */
  words: string[]
  /** The values of options that have a fixed list. */
  values: readonly (readonly [option: string, values: readonly string[]])[]
  /** Whether sessions are completed as well. */
  takesSession: boolean
}

function wordsOf(command: Command, agents: readonly string[]): Words {
  const { registeredArguments: given } = command
  const values = given.flatMap(({ argChoices = [] }) => argChoices)
  const options = command.options.flatMap(({ long, short }) => [long, short].filter((one) => one != null))
  const takesAgent = given.some((one) => one.name() === 'agent' || one.name() === 'agents')
  return {
    name: command.name(),
    description: command.description(),
    words: [...values, ...(takesAgent ? agents : []), ...options, '--help'],
    values: command.options.flatMap(({ long, argChoices }): [string, readonly string[]][] => {
      const list = argChoices ?? (long === '--agent' ? agents : undefined)
      return long == null || !list ? [] : [[long, list]]
    }),
    takesSession: given.some((one) => one.name() === 'session'),
  }
}

/** The names or the beginnings of the ids of the newest sessions, if a server runs. Starts none. */
export async function sessionNames(): Promise<string[]> {
  const client = await runningServer()
  const sessions = client ? (await client.sessions({ limit: 50 })).sessions : []
  return ['last', ...sessions.map(refOf)]
}

/** The completion script of a shell: commands, agents, sessions, options and their values. */
export function completion(shell: Shell, program: Command, agents: readonly string[]): string {
  const commands = program.commands.map((command) => wordsOf(command, agents))
  if (shell === 'fish') return fish(commands)
  const script = bash(commands)
  // The completion of zsh runs that of bash.
  return shell === 'bash'
    ? script
    : `#compdef mainstem\nautoload -U +X bashcompinit && bashcompinit\n${script}`
}

/** A word of the line that is completed, as bash writes it. */
const word = (index: string) => `\${COMP_WORDS[${index}]}`

function bash(commands: readonly Words[]): string {
  const cases = commands.flatMap(({ name, words, values, takesSession }) => [
    ...values.map(([option, list]) => `    ${name}:${option}) words="${list.join(' ')}" ;;`),
    `    ${name}:*) words="${words.join(' ')}"${takesSession ? '; sessions=1' : ''} ;;`,
  ])
  return [
    '_mainstem() {',
    '  local words sessions=',
    '  if [ "$COMP_CWORD" = 1 ]; then',
    `    words="${commands.map(({ name }) => name).join(' ')} --help --version"`,
    `  else case "${word('1')}:${word('COMP_CWORD-1')}" in`,
    ...cases,
    '  esac; fi',
    // Asked only for a word that is not an option: it starts the program.
    `  case "${word('COMP_CWORD')}" in -*) ;; *)`,
    `    [ -n "$sessions" ] && words="$words $(${word('0')} completion sessions 2>/dev/null)" ;;`,
    '  esac',
    `  COMPREPLY=($(compgen -W "$words" -- "${word('COMP_CWORD')}"))`,
    '}',
    'complete -o default -F _mainstem mainstem',
  ].join('\n')
}

function fish(commands: readonly Words[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`
  return commands
    .flatMap(({ name, description, words, values, takesSession }) => {
      const seen = quoted(`__fish_seen_subcommand_from ${name}`)
      return [
        `complete -c mainstem -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
        `complete -c mainstem -n ${seen} -a ${quoted(words.join(' '))}`,
        ...values.map(
          ([option, list]) =>
            `complete -c mainstem -n ${seen} -l ${option.slice(2)} -xa ${quoted(list.join(' '))}`,
        ),
        ...(takesSession
          ? [`complete -c mainstem -n ${seen} -a '(mainstem completion sessions 2>/dev/null)'`]
          : []),
      ]
    })
    .join('\n')
}
