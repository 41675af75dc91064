/** The first line that `mainstem stdio` writes. Clients check it before they send anything to the program. */
export const STDIO_GREETING = { protocol: 'mainstem-stdio', version: 1 } as const

export function isStdioGreeting(line: unknown): boolean {
  if (typeof line !== 'object' || line === null) return false
  return Object.entries(STDIO_GREETING).every(([name, value]) => Reflect.get(line, name) === value)
}
