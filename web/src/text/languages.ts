/** Endings of file names, and names of languages in code fences, by the language whose grammar the page has. */
const NAMES: Readonly<Record<string, string>> = {
  bash: 'bash sh shell zsh console terminal shellscript',
  c: 'c h',
  cpp: 'cpp cc cxx hpp hh c++',
  csharp: 'csharp cs c#',
  css: 'css scss less',
  diff: 'diff patch',
  dockerfile: 'dockerfile docker',
  go: 'go golang',
  ini: 'ini toml conf properties env',
  java: 'java',
  javascript: 'javascript js jsx mjs cjs',
  json: 'json jsonc json5 jsonl ndjson',
  kotlin: 'kotlin kt kts',
  markdown: 'markdown md mdx',
  php: 'php',
  python: 'python py pyi',
  ruby: 'ruby rb',
  rust: 'rust rs',
  sql: 'sql postgres postgresql sqlite mysql',
  swift: 'swift',
  typescript: 'typescript ts tsx mts cts',
  xml: 'xml html htm svg vue svelte',
  yaml: 'yaml yml',
}

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([language, names]) =>
    names.split(' ').map((name) => [name, language] as const),
  ),
)

/** The language that a code fence names. */
export const languageOf = (name: string | undefined): string | undefined =>
  LANGUAGES.get(name?.trim().toLowerCase() ?? '')

/** The language of a file, by the end of its name. */
export function languageOfFile(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return languageOf(name.slice(name.lastIndexOf('.') + 1))
}
