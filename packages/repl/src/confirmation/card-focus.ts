import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Gives a card the focus when it appears, and gives the focus back when the card goes. It does not take the focus from a person
 * who is writing, or in a window that has no focus.
 */
export function useCardFocus(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    const before = document.activeElement;
    if (element !== null && document.hasFocus() && !isWriting(before)) element.focus({ preventScroll: true });
    return () => {
      const focused = document.activeElement;
      const isInside = element !== null && focused !== null && element.contains(focused);
      if (isInside && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [card]);
}

/** True in a non-empty field, and in an editor. */
function isWriting(element: Element | null): boolean {
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement) return element.value !== "";
  return element instanceof HTMLElement && element.isContentEditable;
}
