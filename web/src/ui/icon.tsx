/** Strokes on a grid of 16 units. */
const PATHS = {
  file: 'M4 1.8h5l3 3v9.4H4zM9 1.8v3h3',
  edit: 'M2.5 13.5l.7-2.8 8-8 2.1 2.1-8 8zM10 4l2.1 2.1',
  terminal: 'M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3',
  search: 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.3 10.3L14 14',
  globe: 'M8 2a6 6 0 100 12A6 6 0 008 2zM2 8h12M8 2c2 2 2 10 0 12M8 2c-2 2-2 10 0 12',
  plug: 'M5.5 2v3.5M10.5 2v3.5M4 5.5h8v2a4 4 0 01-8 0zM8 11.5V14',
  agent: 'M3 5.5h10v7H3zM8 5.5V3M6 8.5v1M10 8.5v1',
  thought: 'M8 2.5a4 4 0 014 4c0 2-1.5 2.7-1.8 4H5.8C5.5 9.2 4 8.5 4 6.5a4 4 0 014-4zM6.5 13h3',
  dot: 'M8 6.5a1.5 1.5 0 100 3 1.5 1.5 0 000-3z',
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 5v3.3l2 1.2',
  pin: 'M6 2h4l-.5 4 2.5 2.5H4L6.5 6zM8 8.5V14',
  archive: 'M2.5 3h11v3h-11zM3.5 6v7h9V6M6.5 8.5h3',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 9h6l.5-9',
  copy: 'M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  chevron: 'M6 4l4 4-4 4',
  folder: 'M2 4h4.5l1.5 1.5h6v7H2z',
  image: 'M2.5 3h11v10h-11zM2.5 11l3.5-3 2.5 2 2-1.5 3 2.5M10 6h.01',
  plus: 'M8 3v10M3 8h10',
  gear: 'M8 5.8a2.2 2.2 0 100 4.4 2.2 2.2 0 000-4.4zM8 2v1.5M8 12.5V14M2 8h1.5M12.5 8H14M3.8 3.8l1 1M11.2 11.2l1 1M12.2 3.8l-1 1M4.8 11.2l-1 1',
} as const

export type IconName = keyof typeof PATHS

/** A picture beside a word that says the same, so it has no name of its own. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className={`size-4 shrink-0 fill-none stroke-current stroke-[1.4] ${className}`}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
