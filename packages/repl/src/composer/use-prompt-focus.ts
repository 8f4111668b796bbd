import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Milliseconds in which a press that brought the focus along is heard of. */
const settling = 30;

/**
 * Gives the prompt the focus when the view gets it and nothing in it has it: anyone who opens the view wants to type. A question that waits
 * comes first. A press into the view decides by itself where the focus goes.
 */
export function usePromptFocus(prompt: RefObject<HTMLElement | null>, wanted: boolean): void {
  useEffect(() => {
    if (!wanted) return undefined;
    let pressed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      if (pressed || !document.hasFocus() || document.activeElement !== document.body) return;
      const question = document.querySelector<HTMLElement>(".question-tray section[tabindex]");
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
