import type { ChangeContent, ContentSide } from "@gennai/client/review/change-content";
import { decisionWord, decisionWords } from "@gennai/client/review/decision-words";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import type { Hunk, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { CodePane, type CodePaneHandle } from "../look/code-pane.tsx";
import { useLineColours } from "../look/use-line-colours.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { textOf, withoutMark } from "./content-cache.ts";
import { type DiffRow, diffRows, linesIn } from "./diff-rows.ts";
import { DiffTable } from "./diff-table.tsx";
import { textForField, textFromField } from "./hunk-edit.ts";

export interface HunkCardProps {
  readonly change: ProposedChange;
  /** undefined: the change as a whole. */
  readonly hunk: Hunk | undefined;
  readonly content: ChangeContent & { readonly type: "loaded" };
  readonly position: { readonly index: number; readonly of: number };
  readonly decision: HunkDecision | undefined;
  readonly sideBySide: boolean;
  readonly isCurrent: boolean;
  readonly editing: boolean;
  /** Why it can only be refused; empty: it can be kept. */
  readonly blocked: string;
  /** True if nothing can be decided now, or any more. */
  readonly locked: boolean;
  /** True if the review has few hunks, which are then drawn at once. */
  readonly eager: boolean;
  readonly elementId: string;
  readonly onDecide: (decision: HunkDecision | undefined) => void;
  readonly onEdit: (editing: boolean) => void;
  readonly onFocus: () => void;
}

/** One hunk: what it changes, the decision about it, and buttons to decide. */
export function HunkCard(props: HunkCardProps) {
  const { change, hunk, position, decision, elementId, isCurrent } = props;
  const element = useRef<HTMLElement>(null);
  const near = useNear(element, props.eager || isCurrent || props.editing);
  const word = decisionWord(decisionWords(change), decision?.type);
  return (
    <article
      ref={element}
      id={elementId}
      class={`hunk hunk-${decision?.type ?? "open"}${isCurrent ? " hunk-current" : ""}`}
      tabIndex={-1}
      aria-label={`${hunk === undefined ? "Whole file" : `Hunk ${position.index + 1} of ${position.of}`}, ${change.path}, ${word}`}
      onFocusIn={props.onFocus}
    >
      {near ? <HunkBody {...props} /> : <p class="hunk-far">{placeOf(hunk)}</p>}
    </article>
  );
}

function HunkBody(props: HunkCardProps) {
  const { change, hunk, content, decision, sideBySide, editing, blocked, locked, onDecide, onEdit } = props;
  const sides = useMemo(() => sidesOf(hunk, content), [hunk, content]);
  const shownLines = decision?.type === "edited" ? splitLines(decision.text) : sides.fresh;
  const rows = useMemo(
    () => diffRows(sides.old, shownLines, hunk?.oldRange.start ?? 1, hunk?.newRange.start ?? 1),
    [sides, hunk, decision?.type === "edited" ? decision.text : ""],
  );
  const field = change.operation === "delete" ? undefined : textForField(sides.fresh);
  const canKeep = blocked === "";
  const words = decisionWords(change);
  return (
    <>
      <header class="hunk-head">
        <span class="hunk-place">{placeOf(hunk)}</span>
        <ChangedBy commands={(hunk ?? change).commands} />
        <span class={`hunk-word hunk-word-${decision?.type ?? "open"}`}>
          {decisionWord(decisionWords(change), decision?.type)}
        </span>
        {!locked && (
          <span class="hunk-actions">
            <button
              type="button"
              class="button button-quiet"
              aria-pressed={decision?.type === "keep"}
              disabled={!canKeep}
              onClick={() => onDecide({ type: "keep" })}
            >
              {words.keep}
            </button>
            <button
              type="button"
              class="button button-quiet"
              aria-pressed={decision?.type === "undo"}
              onClick={() => onDecide({ type: "undo" })}
            >
              {words.refuse}
            </button>
            {change.operation !== "delete" && change.binary !== true && (
              <button
                type="button"
                class="button button-quiet"
                aria-pressed={decision?.type === "edited"}
                disabled={!canKeep || field === undefined}
                title={field === undefined ? "It holds characters that a text field would change." : undefined}
                onClick={() => onEdit(true)}
              >
                Edit
              </button>
            )}
          </span>
        )}
      </header>
      {editing && field !== undefined ? (
        <HunkEditor
          text={decision?.type === "edited" ? (textForField(splitLines(decision.text)) ?? field) : field}
          path={change.path}
          firstLine={hunk?.newRange.start ?? 1}
          label={`New lines of ${change.path}, ${placeOf(hunk)}`}
          onSave={(text) => {
            const edited = textFromField(text, sides.fresh);
            onDecide(edited === sides.fresh.join("") ? { type: "keep" } : { type: "edited", text: edited });
            onEdit(false);
          }}
          onCancel={() => onEdit(false)}
        />
      ) : (
        <HunkRows
          path={change.path}
          content={content}
          rows={rows}
          isEdited={decision?.type === "edited"}
          sideBySide={sideBySide}
          label={`${change.path}, ${placeOf(hunk)}`}
        />
      )}
    </>
  );
}

function HunkRows(props: {
  readonly path: string;
  readonly content: ChangeContent & { readonly type: "loaded" };
  readonly rows: readonly DiffRow[];
  readonly isEdited: boolean;
  readonly sideBySide: boolean;
  readonly label: string;
}) {
  const { path, content, rows, isEdited, sideBySide, label } = props;
  const old = useLineColours(path, plainText(content.base));
  const fresh = useLineColours(path, plainText(content.fresh));
  const binary = [content.base, content.fresh].find(({ type }) => type === "binary");
  if (binary?.type === "binary") {
    return <p class="hunk-note">Not shown: this is not UTF-8 text ({binary.bytes.toLocaleString("en")} bytes).</p>;
  }
  if (rows.length === 0) return <p class="hunk-note">The file is empty.</p>;
  const oneSided = content.base.type === "absent" || content.fresh.type === "absent";
  // Lines that a person wrote in place of the proposed ones are not in the file.
  const colours = { old, fresh: isEdited ? [] : fresh };
  return <DiffTable rows={rows} sideBySide={sideBySide && !oneSided} label={label} colours={colours} />;
}

function plainText(side: ContentSide): string | undefined {
  const text = textOf(side);
  return text === undefined ? undefined : withoutMark(text);
}

interface HunkEditorProps {
  readonly text: string;
  readonly path: string;
  readonly firstLine: number;
  readonly label: string;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
}

function HunkEditor({ text, path, firstLine, label, onSave, onCancel }: HunkEditorProps) {
  const pane = useRef<CodePaneHandle>(null);
  const save = () => onSave(pane.current?.text ?? text);
  return (
    <div class="hunk-editor">
      <CodePane {...{ text, path, firstLine, label, onCancel }} handle={pane} onSave={save} />
      <div class="g-row">
        <button type="button" class="button" onClick={save}>
          Keep these lines
        </button>
        <button type="button" class="button button-quiet" onClick={onCancel}>
          Cancel
        </button>
        <span class="g-quiet">
          They stand in place of all new lines of the hunk. Ctrl+Enter keeps them, Esc cancels.
        </span>
      </div>
    </div>
  );
}

function sidesOf(hunk: Hunk | undefined, content: ChangeContent & { readonly type: "loaded" }) {
  const old = splitLines(withoutMark(textOf(content.base) ?? ""));
  const fresh = splitLines(withoutMark(textOf(content.fresh) ?? ""));
  if (hunk === undefined) return { old, fresh };
  return { old: linesIn(old, hunk.oldRange), fresh: linesIn(fresh, hunk.newRange) };
}

function placeOf(hunk: Hunk | undefined): string {
  if (hunk === undefined) return "Whole file";
  const { start, count } = hunk.newRange.count === 0 ? hunk.oldRange : hunk.newRange;
  return count === 1 ? `Line ${start}` : `Lines ${start}–${start + count - 1}`;
}

/** The commands that changed a part of a proposal; nothing if only file tools changed it. */
function ChangedBy({ commands }: { readonly commands: readonly string[] | undefined }) {
  if (commands === undefined) return null;
  return (
    <span class="changed-by" title={commands.join("\n")}>
      changed by{" "}
      {commands.map((command) => (
        <VisibleText in="code" key={command} text={command} />
      ))}
    </span>
  );
}

/** Distance from the visible area at which an element still counts as near; pixels. */
const margin = "1200px 0px";

/**
 * Whether an element is on the screen or close to it. While it is not, its component may show a placeholder: the element keeps
 * its height.
 * @param eager true: always near, e.g. because there are only few of them
 */
function useNear(element: RefObject<HTMLElement | null>, eager: boolean): boolean {
  const [near, setNear] = useState(eager);
  useEffect(() => {
    const watched = element.current;
    if (eager || watched === null) return undefined;
    return watch(watched, (isNear) => {
      // By the style object, which a content security policy permits.
      if (!isNear) watched.style.setProperty("block-size", `${watched.getBoundingClientRect().height}px`);
      else watched.style.removeProperty("block-size");
      setNear(isNear);
    });
  }, [element, eager]);
  return near || eager;
}

const listeners = new WeakMap<Element, (near: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** One observer for all elements, because thousands of observers are slow. */
function watch(element: Element, listener: (near: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const entry of entries) listeners.get(entry.target)?.(entry.isIntersecting);
    },
    { rootMargin: margin },
  );
  listeners.set(element, listener);
  observer.observe(element);
  return () => {
    listeners.delete(element);
    observer?.unobserve(element);
  };
}
