import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The environment of a program that runs against a scripted model and uses no other network service. */
export interface OfflineEnvironment {
  /** The complete environment except `PATH`. */
  readonly env: Readonly<Record<string, string>>
  /** Files to write before the start, by absolute path. */
  readonly files: Readonly<Record<string, string>>
}

/** A program that `offlineEnvironment()` supports. */
export type OfflineProgram = keyof typeof RECIPES

type Recipe = (url: string, home: string) => OfflineEnvironment

/** The scripted model accepts any key. */
const KEY = 'scripted-model-key'

const claude: Recipe = (url) => ({
  env: {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
    // The default is ten retries, with minutes between them.
    CLAUDE_CODE_MAX_RETRIES: '2',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
    // Without it, Claude Code refuses to skip permissions for root, the user of most containers.
    IS_SANDBOX: '1',
  },
  files: {},
})

/** Settings that scenarios need beyond the defaults. */
interface CodexSettings {
  readonly model: readonly string[]
  readonly features: readonly string[]
  readonly tools: readonly string[]
}

const CODEX_EXTRAS: CodexSettings = {
  // This model calls tools by name; the default model writes programs that call them.
  model: ['model = "gpt-5.5"'],
  // Enables questions outside of plan mode.
  features: ['default_mode_request_user_input = true'],
  tools: ['[tools.update_plan]', 'enabled = true'],
}

const codexRecipe =
  ({ model, features, tools }: CodexSettings): Recipe =>
  (url, home) => ({
    env: { CODEX_HOME: join(home, '.codex'), CODEX_SCRIPTED_KEY: KEY },
    files: {
      [join(home, '.codex', 'config.toml')]: [
        ...model,
        'model_provider = "scripted"',
        'check_for_update_on_startup = false',
        'suppress_unstable_features_warning = true',
        '[features]',
        // Without plugins and apps, Codex connects only to its model.
        'apps = false',
        'plugins = false',
        ...features,
        '[analytics]',
        'enabled = false',
        ...tools,
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = ${JSON.stringify(`${url}/v1`)}`,
        'env_key = "CODEX_SCRIPTED_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1',
        'stream_max_retries = 2',
        'supports_websockets = false',
        '',
      ].join('\n'),
    },
  })

const codex = codexRecipe(CODEX_EXTRAS)
const codexDefault = codexRecipe({ model: [], features: [], tools: [] })

const gemini: Recipe = (url, home) => ({
  env: {
    GEMINI_API_KEY: KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_TELEMETRY_ENABLED: 'false',
    NO_BROWSER: '1',
  },
  files: {
    [join(home, '.gemini', 'settings.json')]: json({
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      // The automatic choice of a model costs a call and may change between prompts.
      model: { name: 'gemini-2.5-flash' },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
    }),
  },
})

const opencode: Recipe = (url, home) => ({
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: 'true',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: 'true',
    OPENCODE_DISABLE_LSP_DOWNLOAD: 'true',
    OPENCODE_DISABLE_MODELS_FETCH: 'true',
    OPENCODE_DISABLE_SHARE: 'true',
    // Prevents the download of plugin types.
    npm_config_offline: 'true',
  },
  files: {
    [join(home, '.config', 'opencode', 'opencode.json')]: json({
      autoupdate: false,
      share: 'disabled',
      snapshot: false,
      model: 'scripted/model',
      small_model: 'scripted/small',
      enabled_providers: ['scripted'],
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Scripted',
          options: { baseURL: `${url}/v1`, apiKey: KEY },
          models: {
            model: {
              name: 'Scripted',
              tool_call: true,
              reasoning: true,
              attachment: true,
              modalities: { input: ['text', 'image'], output: ['text'] },
              limit: LIMIT,
              cost: COST,
            },
            small: { name: 'Scripted, small', limit: LIMIT },
          },
        },
      },
    }),
  },
})

const qwen: Recipe = (url, home) => ({
  env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'scripted' },
  files: {
    [join(home, '.qwen', 'settings.json')]: json({
      general: { enableAutoUpdate: false },
      modelProviders: {
        openai: ['scripted', 'small'].map((id) => ({
          id,
          name: id,
          baseUrl: `${url}/v1`,
          envKey: 'OPENAI_API_KEY',
          generationConfig: { modalities: { image: true } },
        })),
      },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'openai' } },
      telemetry: { enabled: false },
      tools: { todoWrite: { enabled: true } },
    }),
  },
})

const copilot: Recipe = (url) => ({
  env: {
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
    COPILOT_MODEL: 'scripted',
    COPILOT_PROVIDER_API_KEY: KEY,
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
  },
  files: {},
})

const pi: Recipe = (url, home) => ({
  env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
  files: {
    [join(home, '.pi', 'agent', 'settings.json')]: json({
      defaultProvider: 'scripted',
      defaultModel: 'model',
    }),
    [join(home, '.pi', 'agent', 'models.json')]: json({
      providers: {
        scripted: {
          baseUrl: `${url}/v1`,
          api: 'openai-completions',
          apiKey: KEY,
          models: ['model', 'small'].map((id) => ({
            id,
            reasoning: true,
            input: ['text', 'image'],
            contextWindow: LIMIT.context,
            maxTokens: LIMIT.output,
            cost: { input: COST.input, output: COST.output, cacheRead: COST.cache_read, cacheWrite: 0 },
          })),
        },
      },
    }),
  },
})

const LIMIT = { context: 200_000, output: 8000 }
const COST = { input: 1, output: 2, cache_read: 0.1 }

const RECIPES = { claude, codex, 'codex-default': codexDefault, gemini, opencode, qwen, copilot, pi }

/** Creates a clean environment for a program, with `home` as its home directory and the scripted model as its model. */
export function offlineEnvironment(
  program: OfflineProgram,
  model: { readonly url: string },
  home: string,
): OfflineEnvironment {
  const { env, files } = RECIPES[program](model.url, home)
  return {
    env: {
      HOME: home,
      LANG: 'C.UTF-8',
      NO_COLOR: '1',
      NO_PROXY: '127.0.0.1',
      SHELL: '/bin/bash',
      TERM: 'dumb',
      // Inside the home, because some programs do not trust settings in a temporary directory.
      TMPDIR: join(home, 'tmp'),
      ...env,
    },
    files: { [join(home, 'tmp', '.keep')]: '', ...files },
  }
}

/** Writes the files of an environment, readable only by their owner. */
export async function writeOfflineFiles({ files }: OfflineEnvironment): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text, { mode: 0o600 })
  }
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
