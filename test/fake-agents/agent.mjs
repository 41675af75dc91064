// An agent that misbehaves on request: `node agent.mjs <mode> [argument]`.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [mode = '', argument = ''] = process.argv.slice(2)

const say = (message) => writeSync(1, `${JSON.stringify(message)}\n`)

/** Never exits on its own. */
const stay = () => setInterval(() => undefined, 60_000)

/** A tool that outlives whatever started it. */
const tool = (options) => {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', ...options })
  child.unref()
  return child.pid
}

const modes = {
  hang() {
    say({ ready: true })
    stay()
  },
  deaf() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => say({ heard: signal }))
    say({ ready: true })
    stay()
  },
  polite() {
    process.on('SIGINT', () => {
      say({ heard: 'SIGINT' })
      process.exit(7)
    })
    say({ ready: true })
    stay()
  },
  stopped() {
    say({ ready: true })
    process.kill(process.pid, 'SIGSTOP')
    stay()
  },
  flood() {
    for (let n = 0; n < Number(argument); n++) say({ n, filler: 'x'.repeat(200) })
  },
  surge() {
    modes.flood()
    process.stdin.once('data', () => process.exit(0))
  },
  errors() {
    for (let n = 0; n < Number(argument); n++) writeSync(2, `error ${n} ${'x'.repeat(200)}\n`)
    say({ done: true })
  },
  malformed() {
    for (let n = 0; n < Number(argument); n++) writeSync(1, `not json ${n}\n`)
    say({ done: true })
  },
  cut() {
    writeSync(1, '{"whole":true}\n{"half":')
    process.exit(3)
  },
  tail() {
    writeSync(1, '{"last":true}')
    writeSync(2, 'last words')
  },
  bytes() {
    writeSync(1, Buffer.from(argument, 'hex'))
  },
  killed() {
    say({ ready: true })
    process.kill(process.pid, 'SIGKILL')
    stay()
  },
  long() {
    const block = Buffer.alloc(1024 * 1024, 'a')
    say({ before: true })
    for (let n = 0; n < Number(argument); n++)
      for (let at = 0; at < block.length; ) at += writeSync(1, block, at)
    writeSync(1, '\n')
    say({ after: true })
  },
  /** One JSON message with a text of as many megabytes, between two short ones. */
  largeJson() {
    const block = Buffer.alloc(1024 * 1024, 'a')
    say({ before: true })
    writeSync(1, '{"type":"user","text":"')
    for (let n = 0; n < Number(argument); n++)
      for (let at = 0; at < block.length; ) at += writeSync(1, block, at)
    writeSync(1, '","status":"ok"}\n')
    say({ after: true })
  },
  /** One line without an end. */
  endless() {
    for (const block = Buffer.alloc(1024 * 1024, 'a'); ; ) writeSync(1, block)
  },
  /** As many lines in one go. */
  burst() {
    const lines = Array.from({ length: Number(argument) }, (_, n) =>
      JSON.stringify({ n, filler: 'x'.repeat(180) }),
    )
    writeSync(1, `${lines.join('\n')}\n`)
  },
  dump() {
    say({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd(), pid: process.pid })
    say({ temporary: existsSync(process.env.TMPDIR ?? '') })
  },
  echo() {
    const lines = createInterface({ input: process.stdin })
    lines.on('line', (line) => say({ heard: line.length, start: line.slice(0, 40) }))
    lines.on('close', () => say({ ended: true }))
  },
  shut() {
    closeSync(0)
    say({ ready: true })
    stay()
  },
  /** Closes its output and lives on. */
  mute() {
    say({ ready: true })
    closeSync(1)
    stay()
  },
  /** Closes its output, which a process that it started still has, and lives longer than that one. */
  handsOver() {
    say({ ready: true })
    const heir = spawn('sh', ['-c', 'sleep 3.5; echo \'{"late":true}\''], {
      stdio: ['ignore', 'inherit', 'ignore'],
    })
    closeSync(1)
    heir.on('exit', () => process.exit(0))
  },
  /** Leaves its session, keeps its environment. */
  detached() {
    say({ tool: tool({ detached: true }) })
    stay()
  },
  /** For each line of its input, starts a tool in a session of its own (`away`) or in its own session (`here`). */
  tools() {
    say({ ready: true })
    createInterface(process.stdin).on('line', (line) => say({ [line]: tool({ detached: line === 'away' }) }))
  },
  /** Leaves its session and its environment. */
  cleared() {
    say({ tool: tool({ detached: true, env: { PATH: process.env.PATH } }) })
    stay()
  },
  /** Exits at once and leaves a tool in a session of its own. */
  orphan() {
    say({ tool: tool({ detached: true }) })
  },
  /** At its first input, exits and leaves a tool without any mark: no session, no environment, no parent. */
  vanished() {
    process.stdin.once('data', () => {
      say({ tool: tool({ detached: true, env: { PATH: process.env.PATH } }) })
      process.exit()
    })
  },
  /** Exits at once; its tool keeps the pipes open. */
  holder() {
    say({ tool: tool({ stdio: 'inherit' }) })
  },
  /** Exits at once; a shell it leaves behind has one more thing to say. */
  late() {
    spawn('sh', ['-c', 'sleep 0.1; echo "{\\"late\\":true}"'], { stdio: 'inherit' }).unref()
  },
  /** Exits at once; a shell it leaves behind goes on writing for ever. */
  chatter() {
    spawn('sh', ['-c', 'while :; do echo "{\\"chatter\\":true}"; done'], { stdio: 'inherit' }).unref()
    say({ ready: true })
  },
  /** Forks all the time, and neither it nor its children listen. */
  forks() {
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
    const script = 'trap "" INT TERM; echo "{\\"forking\\":true}"; while :; do sleep 600 & sleep 0.01; done'
    spawn('sh', ['-c', script], { stdio: 'inherit' })
    stay()
  },
  /** As many tools as are asked for, each in a session of its own, each started by a shell that goes on. */
  swarm() {
    const script =
      'n=0; while [ $n -lt $1 ]; do setsid sleep 600 & n=$((n+1)); done; echo "{\\"swarm\\":$n}"; wait'
    process.on('SIGINT', () => undefined)
    spawn('sh', ['-c', script, 'sh', argument], { stdio: 'inherit' })
    stay()
  },
}

modes[mode]()
