/** Puts a text on the clipboard. Over plain HTTP browsers have no `navigator.clipboard`, but can copy a selection. */
export async function copyText(text: string): Promise<void> {
  // The types know no page without TLS.
  const clipboard: Clipboard | undefined = navigator.clipboard
  if (clipboard) return clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'sr-only'
  // Inside of an open dialog, where alone the focus may be.
  const place = document.querySelector('dialog[open]') ?? document.body
  const before = document.activeElement
  place.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('The browser refused to copy')
}
