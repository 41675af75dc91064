import { type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { type FileWord, fileWordAt, useFileNames } from './file-names.ts'

interface PromptFieldProps {
  id: string
  ref?: RefObject<HTMLTextAreaElement | null>
  /** The directory whose files `@` completes. */
  cwd: string
  text: string
  placeholder: string
  rows?: number
  onChange(text: string): void
  onSend(): void
  /** Called with pasted or dropped files. */
  onFiles(files: Iterable<File>): void
}

/** The field for a prompt: Enter sends, Shift Enter starts a line, `@` completes names of files, images are pasted or dropped. */
export function PromptField(props: PromptFieldProps) {
  const { id, cwd, text, placeholder, rows = 1, onChange, onSend, onFiles } = props
  const own = useRef<HTMLTextAreaElement>(null)
  const field = props.ref ?? own
  const [word, setWord] = useState<FileWord>()
  const [at, setAt] = useState(0)
  const names = useFileNames(cwd, word?.text)
  const isOpen = word !== undefined && names.length > 0
  const look = () => {
    const { current } = field
    setWord(current ? fileWordAt(current.value, current.selectionStart) : undefined)
    setAt(0)
  }
  const complete = (name: string | undefined) => {
    const { current } = field
    if (!word || !current || name === undefined) return
    // The browser's own undo knows this change.
    current.setRangeText(`@${name} `, word.start, word.end, 'end')
    onChange(current.value)
    setWord(undefined)
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    if (
      isOpen &&
      pressInList(
        event,
        names.length,
        at,
        setAt,
        () => complete(names[at]),
        () => setWord(undefined),
      )
    )
      return
    if (event.key === 'Escape') event.currentTarget.blur()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    onSend()
  }
  return (
    <div className="relative min-w-0 flex-1">
      {isOpen && <FileNames names={names} at={at} onChoose={complete} />}
      <textarea
        id={id}
        ref={field}
        rows={Math.max(rows, Math.min(10, text.split('\n').length + (text === '' ? 0 : 1)))}
        className="w-full resize-none border-0 bg-transparent px-3 pt-2.5 pb-1 outline-none focus-visible:outline-none"
        aria-label="Prompt"
        aria-controls={isOpen ? 'file-names' : undefined}
        placeholder={placeholder}
        value={text}
        onChange={(event) => {
          onChange(event.target.value)
          look()
        }}
        onBlur={() => setWord(undefined)}
        onKeyDown={press}
        onPaste={(event) => {
          // The browser inserts the text beside the files itself.
          const { files } = event.clipboardData
          if (files.length === 0) return
          if (event.clipboardData.getData('text/plain') === '') event.preventDefault()
          onFiles(files)
        }}
        onDragOver={(event) => {
          if (event.dataTransfer.types.includes('Files')) event.preventDefault()
        }}
        onDrop={(event) => {
          // The browser inserts text itself, and would open a file.
          if (event.dataTransfer.files.length === 0) return
          event.preventDefault()
          onFiles(event.dataTransfer.files)
        }}
      />
    </div>
  )
}

/** Returns true for a key of the list. */
function pressInList(
  event: KeyboardEvent,
  count: number,
  at: number,
  move: (at: number) => void,
  choose: () => void,
  close: () => void,
): boolean {
  if (event.key === 'ArrowDown') move((at + 1) % count)
  else if (event.key === 'ArrowUp') move((at + count - 1) % count)
  else if (event.key === 'Escape') close()
  else if (event.key === 'Tab' || (event.key === 'Enter' && !event.metaKey && !event.ctrlKey)) choose()
  else return false
  event.preventDefault()
  return true
}

interface FileNamesProps {
  names: readonly string[]
  at: number
  onChoose(name: string): void
}

function FileNames({ names, at, onChoose }: FileNamesProps) {
  return (
    <div
      id="file-names"
      role="listbox"
      aria-label="Files"
      className="absolute bottom-full left-0 z-10 mb-1 max-h-60 w-full max-w-md overflow-y-auto rounded-lg border border-line bg-panel p-1 shadow-pop"
    >
      {names.map((name, index) => (
        <div
          key={name}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          className={`cursor-pointer truncate rounded px-2 py-0.5 font-mono text-xs ${index === at ? 'bg-raised' : ''}`}
          // Before the field loses the focus.
          onPointerDown={(event) => {
            event.preventDefault()
            onChoose(name)
          }}
        >
          {name}
        </div>
      ))}
    </div>
  )
}
