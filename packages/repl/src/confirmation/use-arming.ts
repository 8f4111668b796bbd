import { Arming, armingMilliseconds } from "@gennai/client/questions/arming";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWindowFocus } from "./window-focus.ts";

/** Arms while the question is visible in a focused window, and starts again when it becomes visible again. */
export function useArming(element: RefObject<HTMLElement | null>): {
  readonly armed: boolean;
  readonly arming: Arming;
} {
  const [armed, setArmed] = useState(false);
  const arming = useRef(new Arming());
  const windowFocus = useWindowFocus();
  arming.current.armed = armed;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onScreen = typeof IntersectionObserver === "undefined";
    const restart = () => {
      clearTimeout(timer);
      setArmed(false);
      // A document with the focus is in the window that is worked in, whatever that reported last.
      const isInFront = windowFocus?.peek() !== false || document.hasFocus();
      if (onScreen && document.visibilityState !== "hidden" && isInFront)
        timer = setTimeout(() => setArmed(true), armingMilliseconds);
    };
    const focused = () => {
      if (windowFocus?.peek() !== true) restart();
    };
    restart();
    const unsubscribe = windowFocus?.subscribe(restart);
    const observer = onScreen
      ? undefined
      : new IntersectionObserver(([entry]) => {
          const seen = entry?.isIntersecting ?? false;
          if (seen === onScreen) return;
          onScreen = seen;
          restart();
        });
    if (element.current !== null) observer?.observe(element.current);
    document.addEventListener("visibilitychange", restart);
    window.addEventListener("focus", focused);
    return () => {
      clearTimeout(timer);
      unsubscribe?.();
      observer?.disconnect();
      document.removeEventListener("visibilitychange", restart);
      window.removeEventListener("focus", focused);
    };
  }, [element, windowFocus]);
  return { armed, arming: arming.current };
}
