import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface QuestionPlaceProps {
  /** Id of the question: a new one is scrolled into view. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/**
 * The place of questions, above the prompt. If there is little room, the page scrolls instead of the question, whose beginning is
 * shown first.
 */
export function QuestionPlace({ id, children }: QuestionPlaceProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const app = place.current?.closest(".app");
    if (app === null || app === undefined || place.current === null) return;
    // Scrolls only the page: an outer element would stay scrolled after the question has gone.
    app.scrollTop += place.current.getBoundingClientRect().top - app.getBoundingClientRect().top;
  }, [id]);
  return (
    <div class="question-tray" ref={place}>
      {children}
    </div>
  );
}
