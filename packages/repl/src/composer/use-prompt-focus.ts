import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Milliseconds to wait for the press that may have brought the focus. */
const settling = 30;

/**
 * Focuses the prompt when the view gets the focus and nothing in it has it, because anyone who opens the view wants to type. A
 * waiting question is focused instead, also of an empty prompt. A press into the view decides by itself where the focus goes.
 */
export function usePromptFocus(prompt: RefObject<HTMLTextAreaElement | null>, wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return undefined;
    let pressed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      const question = document.querySelector<HTMLElement>(".question-tray section[tabindex]");
      const { activeElement } = document;
      const isFree =
        activeElement === document.body ||
        (question !== null && activeElement === prompt.current && prompt.current?.value === "");
      if (pressed || !document.hasFocus() || !isFree) return;
      (question ?? prompt.current)?.focus({ preventScroll: true });
    };
    const begin = () => {
      pressed = false;
      clearTimeout(timer);
      timer = setTimeout(settle, settling);
    };
    const press = () => {
      pressed = true;
    };
    begin();
    window.addEventListener("focus", begin);
    document.addEventListener("pointerdown", press, true);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("focus", begin);
      document.removeEventListener("pointerdown", press, true);
    };
  }, [prompt, wanted]);
}
