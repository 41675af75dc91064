// Writes lines with the time at which they were written: `echo` answers each line, `paced N` writes N lines a second for
// a while, `burst N` writes N lines as fast as it can.
import { createInterface } from 'node:readline'

const PACED_SECONDS = 5
const [mode, count = '0'] = process.argv.slice(2)
const now = () => performance.timeOrigin + performance.now()
const line = () => `${JSON.stringify({ at: now(), text: 'x'.repeat(200) })}\n`

createInterface({ input: process.stdin }).on('line', (text) => {
  if (mode === 'echo') return process.stdout.write(line())
  if (text !== 'go') return undefined
  if (mode === 'burst') {
    for (let n = 0; n < Number(count); n++) process.stdout.write(line())
    return process.stdout.write('{"done":true}\n')
  }
  const [start, all] = [performance.now(), Number(count) * PACED_SECONDS]
  let said = 0
  const timer = setInterval(() => {
    const due = Math.min(all, ((performance.now() - start) / 1000) * Number(count))
    for (; said < due; said++) process.stdout.write(line())
    if (said < all) return
    clearInterval(timer)
    process.stdout.write('{"done":true}\n')
  }, 1)
  return undefined
})
