/** A figure of the summary. */
export interface Row {
  what: string
  value: number
}
