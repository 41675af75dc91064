import { spawn } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

// Stands between us and a program, and writes down both directions, in the layout of the recordings.
const [kind = '', folder = '', program = '', ...args] = process.argv.slice(2)
const own = newFolder(folder)
const began = performance.now()
writeFileSync(join(own, 'stderr.txt'), '')
writeFileSync(join(own, kind === 'live' ? 'transcript.jsonl' : 'stdout.jsonl'), '')

const child = spawn(program, args, { stdio: 'pipe' })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
child.stderr.pipe(process.stderr)
child.stderr.on('data', (chunk) => appendFileSync(join(own, 'stderr.txt'), chunk))
// A child that closed its input gets no more of ours.
child.stdin.on('error', () => process.stdin.unpipe(child.stdin))

if (kind === 'live') {
  note('in', process.stdin)
  note('out', child.stdout)
} else {
  child.stdout.on('data', (chunk) => appendFileSync(join(own, 'stdout.jsonl'), chunk))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))

child.on('close', (code, signal) => {
  writeFileSync(join(own, 'exit.json'), `${JSON.stringify({ code, signal })}\n`)
  if (signal === null) process.exit(code ?? 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
})

function note(dir: 'in' | 'out', stream: NodeJS.ReadableStream): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    const t = Math.round(performance.now() - began)
    appendFileSync(join(own, 'transcript.jsonl'), `${JSON.stringify({ t, dir, msg: JSON.parse(line) })}\n`)
  })
}

/** A scenario may need several processes: each has a folder, the later ones numbered. */
function newFolder(path: string, count = 1): string {
  const name = count === 1 ? path : `${path}_${count}`
  return mkdirSync(name, { recursive: true }) === undefined ? newFolder(path, count + 1) : name
}
