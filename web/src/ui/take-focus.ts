/** As a `ref`: gives the focus to a field that someone has just asked for. */
export function takeFocus(field: HTMLInputElement | null): void {
  field?.focus()
}
