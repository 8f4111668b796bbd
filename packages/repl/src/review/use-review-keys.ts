import { useEffect, useRef } from "preact/hooks";
import { commandOf, type ReviewCommand } from "./review-keys.ts";

/** While the review is shown its keys work, wherever the focus is that wants none of them. */
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
