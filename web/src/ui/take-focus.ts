/** A `ref` that focuses a field when it appears on request. */
export function takeFocus(field: HTMLInputElement | null): void {
  field?.focus()
}
