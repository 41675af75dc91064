import type { Command } from 'commander'

type Shell = 'bash' | 'zsh' | 'fish'

interface Words {
  name: string
  description: string
  /** Options, and the values of arguments that have a fixed list. */
  words: string[]
}

function wordsOf(command: Command): Words {
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const options = command.options.flatMap(({ long, short }) => [long, short].filter((one) => one != null))
  return {
    name: command.name(),
    description: command.description(),
    words: [...values, ...options, '--help'],
  }
}

/** The completion script of a shell: commands, their options and the values of their arguments. */
export function completion(shell: Shell, program: Command): string {
  const commands = program.commands.map(wordsOf)
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
  const cases = commands.map(({ name, words }) => `    ${name}) words="${words.join(' ')}" ;;`)
  return [
    '_mainstem() {',
    '  local words',
    `  case "$COMP_CWORD:${word('1')}" in`,
    `    1:*) words="${commands.map(({ name }) => name).join(' ')} --help --version" ;;`,
    ...cases.map((line) => line.replace(/^ {4}/, '    *:')),
    '  esac',
    `  COMPREPLY=($(compgen -W "$words" -- "${word('COMP_CWORD')}"))`,
    '}',
    'complete -o default -F _mainstem mainstem',
  ].join('\n')
}

function fish(commands: readonly Words[]): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`
  return commands
    .flatMap(({ name, description, words }) => [
      `complete -c mainstem -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
      `complete -c mainstem -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -a ${quoted(words.join(' '))}`,
    ])
    .join('\n')
}
