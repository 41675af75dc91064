import { relativePath, withRelativePaths } from 'mainstem/client'
import { createContext, useContext } from 'react'

/** The working directory of the session around a component; empty outside of one. */
export const Workspace = createContext('')

export interface RelativePaths {
  cwd: string
  path(path: string): string
  text(text: string): string
}

/** Shortens paths below the directory of the session. */
export function useRelativePaths(): RelativePaths {
  const cwd = useContext(Workspace)
  return {
    cwd,
    path: (path) => relativePath(path, cwd),
    text: (text) => withRelativePaths(text, cwd),
  }
}
