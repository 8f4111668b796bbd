import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Pixels from which two sides fit beside each other. */
const wide = 760;

/** Whether an element has room for a difference side by side. */
export function useIsWide(element: RefObject<HTMLElement | null>): boolean {
  const [isWide, setIsWide] = useState(false);
  useEffect(() => {
    const watched = element.current;
    if (watched === null) return undefined;
    const observer = new ResizeObserver(([entry]) => setIsWide((entry?.contentRect.width ?? 0) >= wide));
    observer.observe(watched);
    return () => observer.disconnect();
  }, [element]);
  return isWide;
}
