import { escapeInvisible } from 'mainstem/client'
import { useRelativePaths } from './workspace.ts'

/** A path that gives up its folders before its file name where there is little room. The whole path is its title. */
export function PathText({ path }: { path: string }) {
  const short = escapeInvisible(useRelativePaths().path(path))
  const cut = short.lastIndexOf('/') + 1
  return (
    <span className="flex min-w-0 max-w-full" title={escapeInvisible(path)}>
      <span className="min-w-0 truncate text-soft">{short.slice(0, cut)}</span>
      <span className="max-w-full shrink-0 truncate">{short.slice(cut)}</span>
    </span>
  )
}
