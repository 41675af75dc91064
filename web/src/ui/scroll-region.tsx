import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

interface ScrollRegionProps {
  label: string
  className: string
  ref?: RefObject<HTMLElement | null>
  children: ReactNode
}

/** A part of the screen that may scroll by itself. While it does, it takes the focus, so that the keyboard can scroll it. */
export function ScrollRegion({ label, className, ref, children }: ScrollRegionProps) {
  const own = useRef<HTMLElement>(null)
  const region = ref ?? own
  useLayoutEffect(() => update(region.current))
  useEffect(() => {
    const { current } = region
    if (!current) return
    const observer = new ResizeObserver(() => update(current))
    observer.observe(current)
    return () => observer.disconnect()
  }, [region])
  return (
    <section ref={region} aria-label={label} className={className}>
      {children}
    </section>
  )
}

function update(region: HTMLElement | null): void {
  if (!region) return
  const scrolls = region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight
  if (scrolls) region.tabIndex = 0
  else region.removeAttribute('tabindex')
}
