import type { Command } from 'commander'
import type { LocalFlags } from '../daemon/data-directory.ts'

export interface DoctorFlags extends LocalFlags {
  json?: boolean
}

/** `mainstem doctor`: finds what keeps Mainstem or its agents from working, and the command that fixes it. */
export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check the installation, the daemon, the store and the agents')
    .option('--data <dir>', 'data directory of the server')
    .option('--config <file>', 'configuration file')
    .option('--json', 'print one JSON object')
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('./doctor.ts')
      await doctor(flags)
    })
}
