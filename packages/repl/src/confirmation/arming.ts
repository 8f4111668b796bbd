import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWindowFocus } from "./window-focus.ts";

/** Milliseconds for which a question must have been visible before it can be answered. */
export const armingMilliseconds = 500;

/**
 * Decides whether a click is an answer. A click counts if it began on the button itself, after the question had been shown long
 * enough: a key that was already down or repeats, and a click meant for what was there before, do not count.
 */
export class Arming {
  #armed = false;
  #begun: string | undefined;

  set armed(armed: boolean) {
    this.#armed = armed;
    if (!armed) this.#begun = undefined;
  }

  /** A pointer or key went down on a button. @param button its name */
  begin(button: string, options: { readonly repeat: boolean }): void {
    if (options.repeat) return;
    this.#begun = this.#armed ? button : undefined;
  }

  /** The click that followed; true if it is an answer. */
  takes(button: string): boolean {
    const taken = this.#armed && this.#begun === button;
    this.#begun = undefined;
    return taken;
  }

  /** The pointer left all buttons before the click, or the focus left this button, which may be the pressed one. */
  leave(button?: string): void {
    if (button === undefined || button === this.#begun) this.#begun = undefined;
  }
}

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
      if (onScreen && document.visibilityState !== "hidden" && windowFocus?.peek() !== false)
        timer = setTimeout(() => setArmed(true), armingMilliseconds);
    };
    const focused = () => {
      if (windowFocus?.peek() === undefined) restart();
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
