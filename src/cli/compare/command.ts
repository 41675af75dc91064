import type { Command } from 'commander'
import { addLocalOptions, addPolicyOptions, type PolicyFlags } from '../commands/run.ts'
import type { LocalFlags } from '../daemon/data-directory.ts'

export interface CompareFlags extends LocalFlags, PolicyFlags {
  cwd: string
  worktree?: boolean
  json?: boolean
}

/** `mainstem compare`: one prompt, several agents at once. */
export function registerCompare(program: Command): void {
  const command = program
    .command('compare')
    .description('give several agents the same prompt and compare their work')
    .argument('<agents>', 'agents, separated by commas; agent:model chooses a model')
    .argument('[prompt]', 'what to do; "-" waits for standard input')
    .option('-C, --cwd <dir>', 'where the agents work', '.')
    .option('--worktree', 'give each agent its own git worktree')
  addPolicyOptions(command).option('--json', 'print one JSON object a line, one for each agent')
  addLocalOptions(command).action(async (agents: string, prompt: string | undefined, flags: CompareFlags) => {
    const { compare } = await import('./compare.ts')
    await compare(agents, prompt, flags)
  })
}
