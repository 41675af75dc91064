interface SegmentsProps<Value extends string> {
  label: string
  /** Values and their names, in the order of the buttons. */
  options: Readonly<Partial<Record<NoInfer<Value>, string>>>
  value: Value
  onChange: (value: NoInfer<Value>) => void
}

/** A choice of a few values, all of them visible. */
export function Segments<Value extends string>({ label, options, value, onChange }: SegmentsProps<Value>) {
  return (
    <fieldset className="flex items-center rounded-md border border-line bg-panel p-0.5">
      <legend className="sr-only">{label}</legend>
      {(Object.entries(options) as [Value, string][]).map(([option, name]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          className={`rounded px-2.5 py-0.5 text-sm ${option === value ? 'bg-raised font-medium' : 'text-soft hover:text-ink'}`}
          onClick={() => onChange(option)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}
