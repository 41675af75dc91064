import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Whether this process may use its terminal. The system stops a job in the background that reads or configures it. */
export function isForeground(): boolean {
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+')
  }
  // The name of the program is in brackets and may have spaces. After it: state, parent, group, session, terminal, its group.
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[2] === fields[5]
}
