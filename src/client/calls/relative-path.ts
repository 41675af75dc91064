/** A path below a directory without that directory; any other path as it is. */
export function relativePath(path: string, cwd: string): string {
  const below = `${cwd.replace(/\/+$/, '')}/`
  const rest = path.startsWith(below) ? path.slice(below.length) : ''
  // A path that leaves the directory again must not look as if it were inside.
  return rest === '' || rest.split('/').includes('..') ? path : rest
}

/** A text in which paths below a directory are relative to it. */
export function withRelativePaths(text: string, cwd: string): string {
  const below = `${cwd.replace(/\/+$/, '')}/`
  if (below === '/' || !text.includes(below)) return text
  return text.replaceAll(/(^|[\s"'`(=:])(\/[^\s"'`)]+)/g, (_, before: string, path: string) => {
    return before + relativePath(path, cwd)
  })
}
