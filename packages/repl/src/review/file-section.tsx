import { countDecisions, type Decided, decidableIds, decisionFor } from "@gennai/client/host/review-state";
import type { ChangeContent } from "@gennai/client/review/change-content";
import { decisionWords } from "@gennai/client/review/decision-words";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { RenamedFrom } from "../look/renamed-from.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { type ContentCache, textOf, withoutMark } from "./content-cache.ts";
import { diffRows, hunkCounts } from "./diff-rows.ts";
import { DiffTable } from "./diff-table.tsx";
import { HunkCard } from "./hunk-card.tsx";
import { type HunkReference, hunkElementId } from "./hunk-reference.ts";
import { objectionTo } from "./objections.ts";

/** What a person can do with a file. The same object during a whole review. */
export interface FileActions {
  expand(changeId: string, expanded: boolean): void;
  decide(changeId: string, hunkIds: readonly string[], decision: HunkDecision | undefined): void;
  /** undefined: closes the editor. */
  edit(place: HunkReference | undefined): void;
  focus(place: HunkReference): void;
  /** undefined: there is no editor that could show it. */
  readonly openDiff: ((changeId: string) => void) | undefined;
}

export interface FileSectionProps {
  readonly change: ProposedChange;
  /** Decisions about this change, by hunk id. */
  readonly decided: Readonly<Record<string, HunkDecision>> | undefined;
  readonly cache: ContentCache;
  readonly expanded: boolean;
  readonly sideBySide: boolean;
  /** The current hunk in this file; undefined if it is in another file. */
  readonly current: HunkReference | undefined;
  readonly editing: HunkReference | undefined;
  readonly locked: boolean;
  readonly eager: boolean;
  readonly elementId: string;
  readonly actions: FileActions;
}

/**
 * One file of a proposal with its hunks. Its content is fetched when it is opened. It is redrawn only if something of its own
 * changed, because there may be hundreds.
 */
export const FileSection = memo(function FileSection(props: FileSectionProps) {
  const { change, expanded, elementId, locked, actions } = props;
  const ids = decidableIds(change);
  const state = stateOf(props);
  const counts = countDecisions(state, [change]);
  const { added, removed } = hunkCounts(change.hunks);
  const decided = counts.total - counts.open;
  const words = isWhole(change) ? decisionWords(change) : { keep: "Keep file", refuse: "Refuse file" };
  return (
    <section class="file" id={elementId} aria-label={change.path}>
      <header class="file-head">
        <button
          type="button"
          class="file-toggle"
          aria-expanded={expanded}
          aria-controls={`${elementId}-body`}
          onClick={() => actions.expand(change.id, !expanded)}
        >
          <span class="g-chevron" aria-hidden="true" />
          <VisibleText in="span" class="file-title" text={change.path} />
          {change.operation !== "update" && change.movedFrom === undefined && (
            <span class={`badge file-${change.operation}`}>
              {change.operation === "create" ? "new file" : "deleted"}
            </span>
          )}
          {change.movedFrom !== undefined && <RenamedFrom path={change.movedFrom} />}
          {change.conflict && <span class="badge badge-bad">conflict</span>}
        </button>
        <span class="file-counts">
          <span class="file-added" title={`${added} lines added`}>
            +{added}
          </span>{" "}
          <span class="file-removed" title={`${removed} lines removed`}>
            −{removed}
          </span>
        </span>
        <span class="file-progress" title="Hunks decided">
          {decided}/{counts.total}
        </span>
        <span class="file-actions">
          {!locked && (
            <>
              <button
                type="button"
                class="button button-quiet"
                disabled={change.conflict}
                aria-label={`${words.keep} ${change.path}`}
                onClick={() => actions.decide(change.id, openToKeep(change, state), { type: "keep" })}
              >
                {words.keep}
              </button>
              <button
                type="button"
                class="button button-quiet"
                aria-label={`${words.refuse} ${change.path}`}
                onClick={() => actions.decide(change.id, ids, { type: "undo" })}
              >
                {words.refuse}
              </button>
            </>
          )}
          {actions.openDiff !== undefined && (
            <button
              type="button"
              class="button button-quiet"
              aria-label={`Open diff of ${change.path}`}
              onClick={() => actions.openDiff?.(change.id)}
            >
              Open diff
            </button>
          )}
        </span>
      </header>
      {change.warning !== "" && (
        <p class={change.conflict ? "g-notice g-notice-bad" : "g-notice"}>
          <VisibleText text={change.warning} />
          {change.conflict && " It can only be refused; ask for the change again."}
        </p>
      )}
      <div class="file-body" id={`${elementId}-body`} hidden={!expanded}>
        {expanded && <FileBody {...props} />}
      </div>
    </section>
  );
});

/** Decided by one yes or no. */
function isWhole({ operation, movedFrom }: ProposedChange): boolean {
  return operation === "delete" || movedFrom !== undefined;
}

function stateOf({ change, decided = {} }: Pick<FileSectionProps, "change" | "decided">): Decided {
  return { decisions: { [change.id]: decided } };
}

/** Hunks without an edit: keeping the rest must not replace an edit. */
function openToKeep(change: ProposedChange, state: Decided): readonly string[] {
  return decidableIds(change).filter((id) => decisionFor(state, change.id, id)?.type !== "edited");
}

function FileBody(props: FileSectionProps) {
  const { change, cache } = props;
  const content = cache.of(change).value;
  switch (content.type) {
    case "loading":
      return (
        <p class="hunk-note" role="status">
          Fetching and checking…
        </p>
      );
    case "unverified":
      return (
        <div class="g-notice g-notice-bad" role="alert">
          <p>
            <VisibleText text={content.reason} /> It is not shown, and nothing of it can be kept.
          </p>
          <button type="button" class="button button-quiet" onClick={() => cache.retry(change)}>
            Try again
          </button>
        </div>
      );
    case "loaded":
      return <Hunks {...props} content={content} />;
  }
}

function Hunks(props: FileSectionProps & { readonly content: ChangeContent & { readonly type: "loaded" } }) {
  const { change, content, sideBySide, current, editing, actions } = props;
  const state = stateOf(props);
  const isWhole = decidableIds(change)[0] === "";
  const hunks = isWhole ? [undefined] : change.hunks;
  return (
    <>
      {hunks.map((hunk, index) => {
        const place = { changeId: change.id, hunkId: hunk?.id ?? "" };
        const before = index === 0 ? undefined : hunks[index - 1];
        return (
          <div key={place.hunkId} class="hunk-slot">
            {hunk !== undefined && (
              <Gap
                content={content}
                from={before === undefined ? 1 : endOf(before.newRange)}
                to={startOf(hunk.newRange)}
                sideBySide={sideBySide}
                oldOffset={startOf(hunk.oldRange) - startOf(hunk.newRange)}
              />
            )}
            <HunkCard
              {...{ change, hunk, content, sideBySide }}
              position={{ index, of: hunks.length }}
              decision={decisionFor(state, change.id, place.hunkId)}
              isCurrent={isSame(current, place)}
              editing={isSame(editing, place)}
              blocked={objectionTo(change)}
              locked={props.locked}
              eager={props.eager}
              elementId={hunkElementId(props.elementId, index)}
              onDecide={(decision) => actions.decide(change.id, [place.hunkId], decision)}
              onEdit={(isEditing) => actions.edit(isEditing ? place : undefined)}
              onFocus={() => actions.focus(place)}
            />
          </div>
        );
      })}
    </>
  );
}

interface GapProps {
  readonly content: ChangeContent & { readonly type: "loaded" };
  /** Line numbers in the new file, 1-based, `to` excluded. */
  readonly from: number;
  readonly to: number;
  readonly oldOffset: number;
  readonly sideBySide: boolean;
}

/** Unchanged lines; shown on demand. */
function Gap({ content, from, to, oldOffset, sideBySide }: GapProps) {
  const [open, setOpen] = useState(false);
  const count = to - from;
  if (count <= 0) return null;
  if (!open) {
    return (
      <button type="button" class="gap" onClick={() => setOpen(true)}>
        {count === 1 ? "1 unchanged line" : `${count} unchanged lines`}
      </button>
    );
  }
  const lines = splitLines(withoutMark(textOf(content.fresh) ?? "")).slice(from - 1, to - 1);
  return (
    <DiffTable
      rows={diffRows(lines, lines, from + oldOffset, from)}
      sideBySide={sideBySide}
      label={`Unchanged lines ${from} to ${to - 1}`}
    />
  );
}

function startOf({ start, count }: { readonly start: number; readonly count: number }): number {
  return count === 0 ? start + 1 : start;
}

function endOf(range: { readonly start: number; readonly count: number }): number {
  return startOf(range) + range.count;
}

function isSame(one: HunkReference | undefined, other: HunkReference): boolean {
  return one?.changeId === other.changeId && one.hunkId === other.hunkId;
}
