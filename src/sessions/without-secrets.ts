import type { SessionRecord } from '../model/index.ts'

const HIDDEN = '[hidden]'

/** Removes values that may be secret from a record; the caller that set them knows them. */
export function withoutSecrets(record: SessionRecord): SessionRecord {
  const { env, mcpServers, ...options } = record.options
  return {
    ...record,
    options: {
      ...options,
      ...(env && { env: hide(env) }),
      ...(mcpServers && {
        mcpServers: Object.fromEntries(
          Object.entries(mcpServers).map(([name, { env, headers, ...server }]) => [
            name,
            { ...server, ...(env && { env: hide(env) }), ...(headers && { headers: hide(headers) }) },
          ]),
        ),
      }),
    },
  }
}

function hide(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
}
