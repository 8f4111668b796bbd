import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface QuestionPlaceProps {
  /** Of the question: another one is brought into sight again. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/** Where questions stand, above the prompt. In little room the page scrolls instead of the question: its beginning is shown first. */
export function QuestionPlace({ id, children }: QuestionPlaceProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => place.current?.scrollIntoView?.({ block: "start" }), [id]);
  return (
    <div class="question-tray" ref={place}>
      {children}
    </div>
  );
}
