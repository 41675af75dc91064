// Started with a low limit of open files: one start without any left, and one after there are some again.
import { closeSync, openSync } from 'node:fs'
import { processDriver } from '../../src/drivers/process.ts'

const context = {
  runId: 'out-of-files',
  cwd: '/',
  env: {},
  values: {
    open(): never {
      throw new Error('nothing here is that long')
    },
  },
}
const launch = { kind: 'process', argv: [process.execPath, '-e', ''], env: {}, passEnv: [] } as const
const start = () => processDriver().start(launch, context).exit

const open: number[] = []
try {
  for (;;) open.push(openSync('/dev/null', 'r'))
} catch (thrown) {
  if (!(thrown instanceof Error) || !thrown.message.includes('EMFILE')) throw thrown
}
const starved = await start()
for (const descriptor of open) closeSync(descriptor)
const recovered = await start()
console.log(JSON.stringify([starved, recovered]))
