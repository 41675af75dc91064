import type { Command } from 'commander'
import type { AgentsFlags } from './agents.ts'
import { DIALECTS } from './choices.ts'
import type { DecodeFlags } from './decode.ts'
import type { DemoFlags } from './demo.ts'

// These commands load the agents. Their modules are imported when they run, so that the help stays quick.

export function registerDemo(program: Command): void {
  program
    .command('demo')
    .description('play a scripted session: no key, no network')
    .option('--yes', 'answer requests without asking')
    .option('--fast', 'ten times as fast')
    .action(async (flags: DemoFlags) => (await import('./demo.ts')).demo(flags))
}

export function registerAgents(program: Command): void {
  program
    .command('agents')
    .description('list the agents, and what each needs to work')
    .option('--config <file>', 'configuration file')
    .option('--context <name>', 'list the agents of this server')
    .option('--server <url>', 'list the agents of the server at this URL')
    .option('--json', 'print one JSON array')
    .action(async (flags: AgentsFlags) => (await import('./agents.ts')).agents(flags))
}

export function registerDecode(program: Command): void {
  program
    .command('decode')
    .description('translate recorded output of an agent into events')
    .argument(
      '[file]',
      'native lines, or a transcript of both directions; standard input if left out or "-"',
      '-',
    )
    .requiredOption('--agent <id>', 'the agent that wrote it')
    .option('--launch <kind>', 'how the agent was run: oneshot or live')
    .option('--to <dialect>', `one of ${DIALECTS.join(', ')}`, 'mainstem')
    .option('--exit <file>', 'JSON with the code and signal that the process ended with')
    .option('--stderr <file>', 'what the process wrote to standard error')
    .option('--stats', 'print one object of counts instead')
    .action(async (file: string, flags: DecodeFlags) => (await import('./decode.ts')).decode(file, flags))
}
