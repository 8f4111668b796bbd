import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Least width at which two sides fit next to each other; pixels. */
const wide = 760;

/** True if an element has room for a diff side by side. */
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
