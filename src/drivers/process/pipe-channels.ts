import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { RunExit } from '../driver.ts'
import type { CutterSetup } from './frame-cutter.ts'
import { PipeReader } from './pipe-reader.ts'
import type { Channels, Fail } from './process-run.ts'

/** A child with Node's own pipes. It loses its input and its outputs when this process ends. */
export function pipeChannels(
  child: ChildProcessWithoutNullStreams,
  reading: Omit<CutterSetup, 'fail'>,
): (fail: Fail) => Channels {
  return (fail) => {
    const { stdin } = child
    const exited = Promise.withResolvers<RunExit>()
    child.once('exit', (code, signal) => {
      exited.resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) })
    })
    child.on('error', (thrown) => fail('unknown', thrown))
    // A child that stopped reading breaks the pipe; its exit code or signal reports the reason.
    stdin.on('error', () => stdin.destroy())
    const setup = { ...reading, fail }
    return {
      pid: child.pid,
      outputs: [new PipeReader('stdout', child.stdout, setup), new PipeReader('stderr', child.stderr, setup)],
      exited: exited.promise,
      write: (write) =>
        new Promise((resolve) => {
          if (write.kind === 'text') stdin.write(write.text, () => resolve())
          else stdin.end(() => resolve())
        }),
      kill: () => child.kill('SIGKILL'),
    }
  }
}
