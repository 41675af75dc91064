import type { NamedVariables } from '../setup.ts'

/** A provider in the user's configuration names the variable that holds its key. */
export const PROVIDER_KEYS: NamedVariables = {
  base: '.codex',
  variable: 'CODEX_HOME',
  path: 'config.toml',
  pattern: /(?<!#.*)\benv_key\s*=\s*["']([A-Za-z_]\w*)["']/g,
}
