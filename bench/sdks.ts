import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const PACKAGES = { claude: '@anthropic-ai/claude-agent-sdk', codex: '@openai/codex-sdk' }
const VERSIONS = { claude: '0.3.325', codex: '0.163.0' }

/** The folder outside this package with the SDK of an agent; undefined if it cannot be installed. */
export function sdkFolder(agent: keyof typeof PACKAGES): string | undefined {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'mainstem/bench', agent)
  const wanted = VERSIONS[agent]
  if (installed(folder, PACKAGES[agent]) === wanted) return folder
  mkdirSync(folder, { recursive: true })
  // The programs themselves are not needed: others stand in for them.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional', '--prefix', folder]
  try {
    execFileSync('npm', ['install', ...flags, `${PACKAGES[agent]}@${wanted}`], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return installed(folder, PACKAGES[agent]) === wanted ? folder : undefined
}

function installed(folder: string, name: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
  } catch {
    return undefined
  }
}
