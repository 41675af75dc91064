import { MAX_FILE_LINES, MAX_FUNCTION_LINES } from './layers.ts'
import type { RULES } from './rules.ts'

/** For each rule: files that break it, and files that look alike and do not. */
interface Plant {
  breaks: readonly (readonly [path: string, text: string])[]
  keeps: readonly (readonly [path: string, text: string])[]
}

const long = (lines: number) => '\n'.repeat(lines - 1)

export const PLANTS: Record<keyof typeof RULES, Plant> = {
  layers: {
    breaks: [
      ['src/model/x.ts', `import { readFileSync } from 'node:fs'`],
      ['src/model/x.ts', `import { jsonFrame } from '../framing/frame.ts'`],
      ['src/framing/x.ts', `import { z } from 'zod'`],
      ['src/framing/x.ts', `export { Buffer } from 'node:buffer'`],
      ['src/agents/codex/codec.ts', `import { decode } from '../claude/codec.ts'`],
      ['src/agents/codex/codec.ts', `import { jsonFrame } from '../../framing/frame.ts'`],
      ['src/agents/protocols/acp/state.ts', `import { gemini } from '../../gemini/agent.ts'`],
      ['src/agents/decoded.ts', `import { agents } from './index.ts'`],
      ['src/agents/decoded.ts', `import { codec } from './claude/codec.ts'`],
      ['src/dialects/x.ts', `import type { Agent } from '../agents/agent.ts'`],
      ['src/drivers/x.ts', `import { claude } from '../agents/claude/agent.ts'`],
      ['src/drivers/x.ts', `import { defineAgent } from '../agents/agent.ts'`],
      ['src/stores/x.ts', `import type { Session } from '../sessions/session.ts'`],
      ['src/sessions/x.ts', `import { memoryStore } from '../stores/memory.ts'`],
      ['src/sessions/x.ts', `type Process = import('node:child_process').ChildProcess`],
      ['src/gateway/x.ts', `import type { Store } from '../stores/store.ts'`],
      ['src/gateway/x.ts', `const { agents } = await import('../agents/index.ts')`],
      ['src/gateway/x.ts', `const name = 'x'\nawait import(name)`],
      ['src/client/x.ts', `import { Event } from '../model/index.ts'`],
      ['src/client/x.ts', `import { spawn } from 'node:child_process'`],
      ['src/client/x.ts', `import { StdioTransport } from './stdio/index.ts'`],
      ['src/client/x.ts', `import { CodexAdapter } from './adapters/index.ts'`],
      ['src/client/x.ts', `import type { Agent } from '../agents/agent.ts'`],
      ['src/client/adapters/x.ts', `import { readFileSync } from 'node:fs'`],
      ['src/client/adapters/x.ts', `import { driver } from '../../drivers/index.ts'`],
      ['src/client/stdio/x.ts', `import { codex } from '../../agents/codex/agent.ts'`],
      ['src/cli/x.ts', `import { CodexAdapter } from '../client/adapters/index.ts'`],
      ['src/cli/x.ts', `import { Sessions } from '../sessions/sessions.ts'`],
      ['src/cli/x.ts', `import chalk from 'chalk'`],
      ['src/cli/x.ts', `import colors from 'picocolors-extra'`],
      ['src/new/x.ts', `export const x = 1`],
      ['src/x.ts', `export const x = 1`],
      ['src/index.ts', `import { main } from './cli/main.ts'`],
      ['src/library/x.ts', `import { Sessions } from '../sessions/sessions.ts'`],
      ['src/ues/x.ts', `import { Gateway } from '../gateway/http/server.ts'`],
      ['src/ues/x.ts', `import { memoryStore } from '../stores/memory.ts'`],
      ['src/daemon/x.ts', `import { echo } from '../ues/adapters.ts'`],
      ['src/daemon/x.ts', `import { scriptedModel } from '../testing/index.ts'`],
      ['src/testing/x.ts', `import type { Agent } from '../agents/agent.ts'`],
    ],
    keeps: [
      ['src/model/x.ts', `import { z } from 'zod'\nimport { Usage } from './usage.ts'`],
      ['src/agents/index.ts', `import { codex } from './codex/agent.ts'`],
      ['src/agents/codex/codec.ts', `import { say } from '../step.ts'\nimport { rules } from './rules.ts'`],
      ['src/agents/gemini/codec.ts', `import { wire } from '../protocols/acp/wire.ts'`],
      ['src/agents/codex/codec.ts', `import { type Frame } from '../../framing/frame.ts'`],
      ['src/drivers/x.ts', `import type { Launch } from '../agents/agent.ts'`],
      ['src/sessions/x.ts', `import type { Store } from '../stores/store.ts'`],
      [
        'src/gateway/x.ts',
        `import { Sessions } from '../sessions/sessions.ts'\nimport fastify from 'fastify'`,
      ],
      ['src/client/x.ts', `import type { Event } from '../model/index.ts'`],
      ['src/client/x.ts', `import { MainstemError } from '../model/outcome/mainstem-error.ts'`],
      ['src/client/adapters/x.ts', `import { codex } from '../../agents/codex/agent.ts'`],
      [
        'src/client/stdio/x.ts',
        `import { Rest } from '../rest.ts'\nimport { spawn } from 'node:child_process'`,
      ],
      ['src/ues/x.ts', `import { wire } from '../compose/wire.ts'\nimport { resolve } from 'node:path'`],
      [
        'src/cli/x.ts',
        `// import x from '../stores/memory.ts'\nconst text = "import x from '../stores/x.ts'"`,
      ],
    ],
  },
  purity: {
    breaks: [
      ['src/agents/x/codec.ts', 'const at = Date.now()'],
      ['src/sessions/x.ts', 'const at = new Date()'],
      ['src/dialects/x.ts', 'const id = Math.random()'],
      ['src/framing/x.ts', 'setTimeout(() => x(), 1)'],
      ['src/model/x.ts', 'export const home = process.env.HOME'],
      ['src/sessions/x.ts', 'const part = { process }'],
      ['src/sessions/x.ts', 'const start = performance.now()'],
    ],
    keeps: [
      ['src/drivers/x.ts', 'const at = Date.now()'],
      ['src/sessions/x.ts', 'const at = clock.now()\nconst half = Math.round(at)'],
      ['src/agents/x/codec.ts', `const launch = { process: 1 }\nconst kind = launch.process\n// Date.now()`],
      ['src/sessions/x.ts', 'interface Part { process: string; at: Date }'],
    ],
  },
  agentNames: {
    breaks: [
      ['src/sessions/x.ts', `if (agent.id === 'codex') go()`],
      ['src/gateway/x.ts', `const slow = 'gemini' !== driver`],
      ['src/drivers/x.ts', `switch (id) {\n case 'claude': go()\n}`],
      ['src/sessions/x.ts', `if (agent === 'pi') go()`],
      ['src/sessions/x.ts', `const remote = agent === 'board'`],
    ],
    keeps: [
      ['src/agents/claude/agent.ts', `const same = id === 'claude'`],
      ['src/cli/x.ts', `const request = { agent: 'demo' }`],
      ['src/sessions/x.ts', `const same = kind === 'permission'`],
    ],
  },
  casts: {
    breaks: [
      ['src/model/x.ts', 'export function f(x: any) {}'],
      ['src/model/x.ts', 'const x = y as unknown as string'],
      ['src/model/x.ts', 'const x = y!'],
      ['src/model/x.ts', 'const x = y as never'],
      ['src/model/x.ts', 'const x = JSON.parse(text) as Config'],
    ],
    keeps: [
      ['src/model/x.ts', '// any\nconst x = y as const\nconst z: unknown = JSON.parse(text)\nconst n = !y'],
    ],
  },
  emptyCatch: {
    breaks: [
      ['src/model/x.ts', 'try { f() } catch {}'],
      ['src/model/x.ts', 'try { f() } catch (error) {\n  // nothing to do\n}'],
      ['src/model/x.ts', 'f().catch(() => {})'],
    ],
    keeps: [['src/model/x.ts', 'try { f() } catch { g() }\nf().catch(() => g())\nfunction none() {}']],
  },
  exportStar: {
    breaks: [['src/model/x.ts', `export * from './y.ts'`]],
    keeps: [['src/model/x.ts', `export { y } from './y.ts'`]],
  },
  functionLength: {
    breaks: [
      ['src/model/x.ts', `function f() {${long(MAX_FUNCTION_LINES + 1)}}`],
      ['src/model/x.ts', `const f = () => {${long(MAX_FUNCTION_LINES + 1)}}`],
      ['src/model/x.ts', `class A { f() {${long(MAX_FUNCTION_LINES + 1)}} }`],
    ],
    keeps: [['src/model/x.ts', `function f() {${long(MAX_FUNCTION_LINES)}}\nconst x = {${long(99)}}`]],
  },
  fileLength: {
    breaks: [['src/model/x.ts', '//\n'.repeat(MAX_FILE_LINES + 1)]],
    keeps: [['src/model/x.ts', '//\n'.repeat(MAX_FILE_LINES)]],
  },
  escapes: {
    breaks: [
      ['src/model/x.ts', `// @ts-${'ignore'}\nf()`],
      ['src/model/x.ts', `// @ts-${'expect-error'}\nf()`],
      ['src/model/x.ts', `// biome-${'ignore'} lint: because\nf()`],
      ['src/model/x.ts', `// ${'TO'}${'DO'}: later\nf()`],
    ],
    keeps: [['src/model/x.ts', '// Expected to be ignored by readers.\nf()']],
  },
  names: {
    breaks: [
      ['src/model/event-utils.ts', 'export const x = 1'],
      ['src/model/EventLog.ts', 'export const x = 1'],
      ['src/model/x.ts', 'export class SessionManager {}'],
      ['src/model/x.ts', 'export function parseV2() {}\nexport function helper() {}'],
    ],
    keeps: [['src/model/x.ts', 'export class Utility {}\nserver.setErrorHandler(f)']],
  },
}
