/** The path of a session. */
export function pathOf(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`
}

/** The query of a call, without parameters that are absent. */
export function searchOf(query: Readonly<Record<string, string | number | undefined>>): URLSearchParams {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, `${value}`)
  return search
}

/** A flag of a query; undefined leaves it out. */
export function flagOf(given: boolean | undefined): string | undefined {
  return given === undefined ? undefined : given ? '1' : '0'
}
