import type { ComponentChildren } from "preact";
import { useLayoutEffect, useReducer, useRef } from "preact/hooks";
import { Icon } from "../look/icon.tsx";
import { ListWindow } from "./list-window.ts";

export interface VirtualListProps {
  readonly count: number;
  /** Key of a row, which stays the same as long as the row exists. */
  readonly keyOf: (row: number) => string;
  /** Pixels of a row before it was measured. */
  readonly estimate: (row: number) => number;
  readonly row: (row: number) => ComponentChildren;
  /** Name by which a screen reader announces a row. */
  readonly nameOf: (row: number) => string;
  readonly label: string;
  /** Shown below the rows. */
  readonly footer?: ComponentChildren;
  /** Changes with the reader's own message: then the list scrolls to its end, where that message is. */
  readonly sent?: string | undefined;
  /** The row that a link leads to; a new object each time. */
  readonly sought?: { readonly row: number } | undefined;
  /** Told of each key that is typed without a modifier while the list, and nothing to type into, has the focus. */
  readonly onKey?: (key: string) => void;
  /** Label of a button that is shown while the reader is not at the end. */
  readonly jumpLabel: string;
}

/**
 * A long list of which only the visible part is in the document. It stays at its end while it grows, unless the reader has
 * scrolled away. Arrow keys go from row to row, Home and End to the first and the last.
 */
export function VirtualList(props: VirtualListProps) {
  const { count, keyOf, estimate, row, nameOf, label, footer, jumpLabel, sent, sought, onKey } = props;
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const windowRef = useRef<ListWindow>(undefined);
  const scroller = useRef<HTMLDivElement>(null);
  const sizer = useRef<HTMLDivElement>(null);
  const rows = useRef<HTMLDivElement>(null);
  const list = (windowRef.current ??= new ListWindow(() => draw(undefined)));
  list.grow(count, estimate);
  useLayoutEffect(() => {
    if (scroller.current === null || sizer.current === null || rows.current === null) return undefined;
    return list.attach({ scroller: scroller.current, sizer: sizer.current, rows: rows.current });
  }, [list]);
  useLayoutEffect(() => list.drawn());
  useLayoutEffect(() => {
    if (sent !== undefined) list.toEnd();
  }, [list, sent]);
  useLayoutEffect(() => {
    if (sought !== undefined) list.show(sought.row);
  }, [list, sought]);
  const { start, end } = list.range;
  const shown = Array.from({ length: Math.max(0, end - start) }, (_, index) => start + index);
  return (
    <div class="list">
      {/* biome-ignore lint: a feed takes focus so that keys can scroll it */}
      <div
        ref={scroller}
        class="list-scroller"
        role="feed"
        aria-label={label}
        tabIndex={0}
        onKeyDown={(event) => {
          const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select") !== null;
          if (!isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) onKey?.(event.key);
          list.key(event);
        }}
      >
        <div ref={sizer} class="list-sizer">
          <div ref={rows} class="list-rows">
            {shown.map((at) => (
              <div
                key={keyOf(at)}
                class="list-row"
                role="article"
                aria-label={nameOf(at)}
                data-row={at}
                tabIndex={-1}
                aria-posinset={at + 1}
                aria-setsize={count}
              >
                {row(at)}
              </div>
            ))}
          </div>
        </div>
        {footer}
      </div>
      {!list.atEnd && (
        <button type="button" class="jump" onClick={() => list.toEnd()}>
          <Icon name="arrowDown" /> {jumpLabel}
        </button>
      )}
    </div>
  );
}
