import { useEffect, useRef } from "preact/hooks";
import { commandOf, type ReviewCommand } from "./review-keys.ts";

/** Makes the keys work while the review is shown, unless the focused element uses them itself. */
export function useReviewKeys(onCommand: (command: ReviewCommand) => void): void {
  const newest = useRef(onCommand);
  newest.current = onCommand;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const command = commandOf(event);
      if (command === undefined || event.defaultPrevented) return;
      event.preventDefault();
      newest.current(command);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
