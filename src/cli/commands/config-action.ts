import { defaultPaths } from '../../compose/paths.ts'
import { loadConfig, withoutPasswords } from '../../daemon/config.ts'
import { type LocalFlags, placeFlags } from '../daemon/data-directory.ts'
import { printableJson } from '../render/printable.ts'

/** Prints the effective configuration without its secrets: passwords of the store, and values of agent variables. */
export async function showConfig(flags: LocalFlags): Promise<void> {
  const { env } = process
  const config = await loadConfig({ flags: placeFlags(flags), environment: env, cwd: process.cwd() })
  const file = flags.config ?? env.MAINSTEM_CONFIG ?? defaultPaths(env).config
  console.error(`from ${file}, the environment and the defaults`)
  const agents = Object.fromEntries(
    Object.entries(config.agents).map(([id, settings]) => [
      id,
      {
        ...settings,
        ...(settings.env && {
          env: Object.fromEntries(Object.keys(settings.env).map((name) => [name, '…'])),
        }),
      },
    ]),
  )
  const store = Object.fromEntries(
    Object.entries(config.store ?? {}).map(([key, value]) => [
      key,
      typeof value === 'string' ? withoutPasswords(value) : value,
    ]),
  )
  for (const [key, value] of Object.entries({ ...config, agents, ...(config.store && { store }) }))
    console.log(`${key}: ${printableJson(value)}`)
}
