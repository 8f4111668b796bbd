import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Distance from the visible area at which an element still counts as near; pixels. */
const margin = "1200px 0px";

/**
 * Whether an element is on the screen or close to it. While it is not, its component may show a placeholder: the element keeps
 * its height.
 * @param eager true: always near, e.g. because there are only few of them
 */
export function useNear(element: RefObject<HTMLElement | null>, eager: boolean): boolean {
  const [near, setNear] = useState(eager);
  useEffect(() => {
    const watched = element.current;
    if (eager || watched === null) return undefined;
    return watch(watched, (isNear) => {
      // By the style object, which a content security policy permits.
      if (!isNear) watched.style.setProperty("block-size", `${watched.getBoundingClientRect().height}px`);
      else watched.style.removeProperty("block-size");
      setNear(isNear);
    });
  }, [element, eager]);
  return near || eager;
}

const listeners = new WeakMap<Element, (near: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** One observer for all elements, because thousands of observers are slow. */
function watch(element: Element, listener: (near: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) listeners.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: margin },
  );
  listeners.set(element, listener);
  observer.observe(element);
  return () => {
    listeners.delete(element);
    observer?.unobserve(element);
  };
}
