import { useMemo, useState } from "preact/hooks";
import type { ColouredPart } from "../look/line-colours.ts";
import type { LineColours } from "../look/use-line-colours.ts";
import { VisibleText } from "../look/visible-text.tsx";
import { type DiffLine, type DiffRow, type LinePart, lineParts } from "./diff-rows.ts";

/** Rows that are shown at once; a button shows the rest. */
const shownAtOnce = 600;

/** The coloured parts of all lines of both files. */
export interface DiffColours {
  readonly old: LineColours;
  readonly fresh: LineColours;
}

export interface DiffTableProps {
  readonly rows: readonly DiffRow[];
  readonly sideBySide: boolean;
  /** What the table shows, for a screen reader. */
  readonly label: string;
  /** Absent if the lines of the files are not available. */
  readonly colours?: DiffColours;
}

const noColours: DiffColours = { old: [], fresh: [] };

/** Old and new lines, next to each other or one below the other. Their text is inert and fully visible. */
export function DiffTable({ rows, sideBySide, label, colours = noColours }: DiffTableProps) {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, shownAtOnce);
  const marked = useMemo(() => shown.map(markedRow), [shown]);
  return (
    <>
      <table
        class={`diff ${sideBySide ? "diff-split" : "diff-unified"}${isLong(rows) ? " diff-long" : ""}`}
        aria-label={label}
      >
        <tbody>
          {sideBySide ? marked.map((row, index) => splitRow(row, index, colours)) : unifiedRows(marked, colours)}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <button type="button" class="button button-quiet diff-more" onClick={() => setAll(true)}>
          Show {rows.length - shown.length} more rows
        </button>
      )}
    </>
  );
}

/** True if the line numbers need more room than usual. */
function isLong(rows: readonly DiffRow[]): boolean {
  const last = rows.at(-1);
  return Math.max(last?.old?.number ?? 0, last?.fresh?.number ?? 0) > 9_000;
}

interface MarkedSide {
  readonly line: DiffLine;
  readonly parts: readonly LinePart[];
}

interface MarkedRow {
  readonly changed: boolean;
  readonly old: MarkedSide | undefined;
  readonly fresh: MarkedSide | undefined;
  /** True if only the line endings differ. */
  readonly endingOnly: boolean;
}

function markedRow(row: DiffRow): MarkedRow {
  const { old, fresh } = row;
  if (row.type === "changed" && old !== undefined && fresh !== undefined) {
    const parts = lineParts(old.text, fresh.text);
    const endingOnly = old.text === fresh.text;
    return {
      changed: true,
      old: { line: old, parts: parts.old },
      fresh: { line: fresh, parts: parts.fresh },
      endingOnly,
    };
  }
  return { changed: row.type === "changed", old: whole(old), fresh: whole(fresh), endingOnly: false };
}

function whole(line: DiffLine | undefined): MarkedSide | undefined {
  return line === undefined ? undefined : { line, parts: [{ text: line.text, changed: false }] };
}

function splitRow(row: MarkedRow, index: number, { old, fresh }: DiffColours) {
  return (
    <tr key={index}>
      <Number line={row.old?.line} kind={row.changed && row.old !== undefined ? "removed" : ""} />
      <Code side={row.old} kind={kindOf(row, row.old, "removed")} endingOnly={row.endingOnly} colours={old} />
      <Number line={row.fresh?.line} kind={row.changed && row.fresh !== undefined ? "added" : ""} />
      <Code side={row.fresh} kind={kindOf(row, row.fresh, "added")} endingOnly={row.endingOnly} colours={fresh} />
    </tr>
  );
}

function kindOf(row: MarkedRow, side: MarkedSide | undefined, kind: "removed" | "added") {
  if (!row.changed) return "context";
  return side === undefined ? "nothing" : kind;
}

/** In a run of changes, removed lines are shown before added ones. */
function unifiedRows(rows: readonly MarkedRow[], colours: DiffColours) {
  const out = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    if (row === undefined) break;
    if (!row.changed) {
      out.push(
        <tr key={`c${at}`}>
          <Number line={row.old?.line} kind="" />
          <Number line={row.fresh?.line} kind="" />
          <Code side={row.fresh} kind="context" endingOnly={false} colours={colours.fresh} />
        </tr>,
      );
      at++;
      continue;
    }
    const start = at;
    while (rows[at]?.changed === true) at++;
    const run = rows.slice(start, at);
    for (const [index, { old, endingOnly }] of run.entries()) {
      if (old === undefined) continue;
      out.push(
        <tr key={`o${start + index}`}>
          <Number line={old.line} kind="removed" />
          <Number line={undefined} kind="removed" />
          <Code side={old} kind="removed" endingOnly={endingOnly} colours={colours.old} />
        </tr>,
      );
    }
    for (const [index, { fresh, endingOnly }] of run.entries()) {
      if (fresh === undefined) continue;
      out.push(
        <tr key={`n${start + index}`}>
          <Number line={undefined} kind="added" />
          <Number line={fresh.line} kind="added" />
          <Code side={fresh} kind="added" endingOnly={endingOnly} colours={colours.fresh} />
        </tr>,
      );
    }
  }
  return out;
}

function Number({ line, kind }: { readonly line: DiffLine | undefined; readonly kind: "added" | "removed" | "" }) {
  return <td class={`diff-number ${kind === "" ? "" : `diff-${kind}`}`}>{line?.number}</td>;
}

interface CodeProps {
  readonly side: MarkedSide | undefined;
  readonly kind: "context" | "added" | "removed" | "nothing";
  readonly endingOnly: boolean;
  /** Colours of all lines of that side. */
  readonly colours: LineColours;
}

const spoken = { added: "added: ", removed: "removed: " };

function Code({ side, kind, endingOnly, colours }: CodeProps) {
  return (
    <td class={`diff-code diff-${kind}`}>
      {(kind === "added" || kind === "removed") && <span class="spoken">{spoken[kind]}</span>}
      {side !== undefined && <ColouredText parts={side.parts} colours={colours[side.line.number - 1] ?? []} />}
      {side !== undefined && kind !== "context" && <Ending line={side.line} shown={endingOnly} />}
    </td>
  );
}

/** The end of a line, if it matters: no newline at the end of a file, or if it is the only difference. */
function Ending({ line, shown }: { readonly line: DiffLine; readonly shown: boolean }) {
  if (line.ending === "") return <span class="diff-ending">no newline at end</span>;
  if (!shown) return null;
  return <span class="diff-ending">{line.ending === "\r\n" ? "CRLF" : "LF"}</span>;
}

interface ColouredTextProps {
  /** Joined, they are the whole line. */
  readonly parts: readonly LinePart[];
  readonly colours: readonly ColouredPart[];
}

/** A line in colours, with its changed parts marked. */
function ColouredText({ parts, colours }: ColouredTextProps) {
  let at = 0;
  return (
    <>
      {parts.map(({ text, changed }, index) => {
        const pieces = cut(text, at, colours);
        at += text.length;
        const shown = pieces.map((piece) =>
          piece.classes === "" ? (
            <VisibleText key={piece.from} text={piece.text} />
          ) : (
            <VisibleText in="span" key={piece.from} class={piece.classes} text={piece.text} />
          ),
        );
        return changed ? <mark key={index}>{shown}</mark> : shown;
      })}
    </>
  );
}

interface Piece {
  readonly from: number;
  readonly text: string;
  readonly classes: string;
}

/** A part of a line, cut into pieces of one colour each. @param start where in the line the part begins */
function cut(text: string, start: number, colours: readonly ColouredPart[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const end = start + text.length;
  let at = start;
  const take = (to: number, classes: string) => {
    if (to > at) pieces.push({ from: at, text: text.slice(at - start, to - start), classes });
    at = Math.max(at, to);
  };
  for (const { from, to, classes } of colours) {
    if (to <= at) continue;
    if (from >= end) break;
    take(Math.max(at, from), "");
    take(Math.min(to, end), classes);
  }
  take(end, "");
  return pieces;
}
