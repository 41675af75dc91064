import type { SessionOptions, SessionRecord } from '../../model/index.ts'

const HIDDEN = '[hidden]'

/** Removes values that may be secret from a record; the caller that set them knows them. */
export function withoutSecrets(record: SessionRecord): SessionRecord {
  return { ...record, options: hiddenOptions(record.options) }
}

/** Options without the values of variables and headers. */
export function hiddenOptions({ env, mcpServers, ...options }: SessionOptions): SessionOptions {
  return {
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
  }
}

function hide(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]))
}
