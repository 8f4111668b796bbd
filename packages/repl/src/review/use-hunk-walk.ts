import { decidableIds } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type HunkReference, hunkElementId, placesOf } from "./hunk-reference.ts";

/** The current hunk of a review, and how to move. */
export interface HunkWalk {
  readonly places: readonly HunkReference[];
  /** True if there are so many hunks that only visible ones are drawn. */
  readonly isMany: boolean;
  /** undefined: none yet. */
  readonly current: HunkReference | undefined;
  /** Ids of the changes that are open. */
  readonly expanded: ReadonlySet<string>;
  fileElementId(changeId: string): string;
  expand(changeId: string, open: boolean): void;
  /** For a hunk that already has the focus. */
  setCurrent(place: HunkReference): void;
  /** Opens the file, and moves the focus to the hunk. */
  goTo(place: HunkReference | undefined): void;
  neighbour(distance: 1 | -1): HunkReference | undefined;
  /** Moves the focus back to the current hunk. */
  focusCurrent(): void;
}

const manyHunks = 60;

/** Moves through the hunks of a proposal. If there are many, files begin closed. */
export function useHunkWalk(changes: readonly ProposedChange[]): HunkWalk {
  const id = useId();
  const places = useMemo(() => placesOf(changes), [changes]);
  const isMany = places.length > manyHunks;
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(
    () => new Set((isMany ? changes.slice(0, 1) : changes).map((change) => change.id)),
  );
  const [current, setCurrent] = useState<HunkReference>();
  const indexes = useMemo(() => new Map(changes.map((change, index) => [change.id, index])), [changes]);
  const wanted = useRef<string>(undefined);
  useLayoutEffect(() => {
    const isThere = (): boolean => {
      const element = wanted.current === undefined ? null : document.getElementById(wanted.current);
      if (element === null) return wanted.current === undefined;
      wanted.current = undefined;
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
      return true;
    };
    if (isThere()) return undefined;
    // It has to be drawn first, by its file, when the content was fetched.
    const drawn = new MutationObserver(() => {
      if (isThere()) drawn.disconnect();
    });
    drawn.observe(document.body, { childList: true, subtree: true });
    return () => drawn.disconnect();
  });
  const fileElementId = (changeId: string) => `${id}-file-${indexes.get(changeId) ?? 0}`;
  const elementIdOf = ({ changeId, hunkId }: HunkReference) => {
    const change = changes[indexes.get(changeId) ?? 0];
    return hunkElementId(fileElementId(changeId), change === undefined ? 0 : decidableIds(change).indexOf(hunkId));
  };
  const expand = (changeId: string, open: boolean) =>
    setExpanded((before) => {
      const after = new Set(before);
      if (open) after.add(changeId);
      else after.delete(changeId);
      return after;
    });
  return {
    places,
    isMany,
    current,
    expanded,
    fileElementId,
    expand,
    setCurrent,
    goTo(place) {
      if (place === undefined) return;
      expand(place.changeId, true);
      setCurrent(place);
      wanted.current = elementIdOf(place);
    },
    neighbour(distance) {
      const at = places.findIndex(
        ({ changeId, hunkId }) => changeId === current?.changeId && hunkId === current.hunkId,
      );
      if (at === -1) return distance === 1 ? places[0] : places.at(-1);
      return places[Math.max(0, Math.min(places.length - 1, at + distance))];
    },
    focusCurrent() {
      if (current !== undefined) wanted.current = elementIdOf(current);
    },
  };
}
