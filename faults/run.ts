/** `npm run faults -- NAME [options]`: runs one of the programs below. Without a name it lists them. */
const PROGRAMS: Readonly<Record<string, string>> = {
  approvals:
    'random keys around the requests of an agent, in a real terminal: nothing is approved by accident',
  attack: 'one token attacks a server, and another one measures how long its own calls take',
  cluster: 'three servers on one PostgreSQL, killed, suspended, cut off and restarted under load',
  crash:
    'a server that is killed with kill -9 at named places of its code (--store postgres: the database too)',
  fsync: 'the fsyncs of the log, counted with strace: each commit needs one',
  interrupts: 'the real CLIs, interrupted at random moments',
  'large-requests': 'the real CLIs ask to write a file of 17 MB, which is allowed or denied',
  memory: 'a server with a small heap and very large logs',
  nemesis: 'a real server whose agents, connections and own process are killed at random',
  plants: 'known faults, planted in a copy of the sources: the other programs must find each of them',
  polls: 'polls around new prompts: every answer must be 200',
  proxy: 'three servers behind a real HAProxy, while one drains and another one is killed',
  quota:
    'the real Claude Code, whose account has a limit that resets in 20 s, and a server that is killed meanwhile',
  resumes: 'readers of every transport, through a proxy that cuts connections at random bytes',
  simulate: 'random lives of sessions, thousands in a minute, each repeatable by its seed',
  'simulate-nodes': 'random lives of three servers on one store, each repeatable by its seed',
  survive: 'the real CLIs, whose server is killed or restarted while they work',
  upgrade:
    'the server of an older commit, killed while its agents wait for answers, and this version after it',
}

const [name = '', ...options] = process.argv.slice(2)
if (Object.hasOwn(PROGRAMS, name)) {
  // Each program reads its own options, as if it had been started by itself.
  process.argv.splice(2, process.argv.length, ...options)
  await import(`./${name}.ts`)
} else {
  if (name !== '') console.error(`There is no program named ${name}.`)
  console.log('npm run faults -- NAME [options]\n')
  for (const [one, what] of Object.entries(PROGRAMS)) console.log(`${one.padEnd(15)} ${what}`)
  process.exitCode = name === '' ? 0 : 2
}
