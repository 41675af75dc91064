import { escapeInvisible, relativePath } from 'mainstem/client'
import { useMemo } from 'react'
import { Counts } from '../../text/diff-view.tsx'
import { useRelativePaths } from '../../text/workspace.ts'
import { Icon } from '../../ui/icon.tsx'
import { type ChangedFile, foldersOf } from './changed-files.ts'

/** The element of a file, which the tree scrolls to. */
export const fileElement = (path: string): string => `file ${path}`

/** The changed files by folder. */
export function FileTree({ files }: { files: readonly ChangedFile[] }) {
  const { cwd } = useRelativePaths()
  const folders = useMemo(() => foldersOf(files, (path) => relativePath(path, cwd)), [files, cwd])
  return (
    <nav
      aria-label="Changed files"
      className="w-60 shrink-0 overflow-y-auto border-r border-line py-2 text-sm max-lg:hidden"
    >
      {folders.map(({ folder, files: own }) => (
        <section key={folder} aria-label={escapeInvisible(folder)} className="pb-1.5">
          {folder !== '' && (
            <p
              className="flex items-center gap-1.5 px-2 py-0.5 text-xs text-soft"
              title={escapeInvisible(folder)}
            >
              <Icon name="folder" className="size-3.5" />
              {/* The end of a long path tells folders apart. */}
              <span className="min-w-0 truncate text-left [direction:rtl]">
                <bdi>{escapeInvisible(folder)}</bdi>
              </span>
            </p>
          )}
          {own.map(({ name, file }) => (
            <button
              key={file.path}
              type="button"
              className="flex w-full items-center gap-1.5 py-0.5 pr-2 pl-5 text-left hover:bg-raised"
              title={escapeInvisible(file.path)}
              onClick={() =>
                document.getElementById(fileElement(file.path))?.scrollIntoView({ block: 'start' })
              }
            >
              <span className="min-w-0 flex-1 truncate">{escapeInvisible(name)}</span>
              <Counts added={file.added} removed={file.removed} />
            </button>
          ))}
        </section>
      ))}
    </nav>
  )
}
