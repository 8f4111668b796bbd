import { createHash } from "node:crypto";
import * as z from "zod";
import { cellNames, type Notebook } from "./notebook.ts";

export type CellType = "code" | "markdown" | "raw";

export type NotebookEdit =
  /** `cellType`: undefined for the cell's present type. */
  | {
      readonly type: "replace";
      readonly cell: string;
      readonly source: string;
      readonly cellType: CellType | undefined;
    }
  /** Inserts after the cell `after`; undefined: at the beginning. */
  | {
      readonly type: "insert";
      readonly after: string | undefined;
      readonly source: string;
      readonly cellType: CellType;
    }
  | { readonly type: "delete"; readonly cell: string };

/**
 * The text of a notebook with one cell edited; undefined if there is no such cell. Everything else stays as it is, byte for byte.
 * The outputs of a code cell are removed with its old source.
 * @param notebook parsed from `text`
 */
export function editNotebook(text: string, notebook: Notebook, edit: NotebookEdit): string | undefined {
  const list = jsonMembers(text, jsonRoot(text).start).findLast(({ key }) => key === "cells");
  if (list === undefined) return undefined;
  const cells = jsonMembers(text, list.start);
  const names = cellNames(notebook);
  const style = styleOf(text);
  const indexOf = (name: string): number => names.indexOf(name);
  switch (edit.type) {
    case "replace": {
      const index = indexOf(edit.cell);
      const place = cells[index];
      return place && replaced(text, place, edit, { style, now: notebook.cells[index]?.cell_type });
    }
    case "delete": {
      const index = indexOf(edit.cell);
      return cells[index] && without(text, cells, index);
    }
    case "insert": {
      const index = edit.after === undefined ? -1 : indexOf(edit.after);
      if (edit.after !== undefined && index === -1) return undefined;
      const written = style.write(newCell(notebook, edit), 2);
      return inserted(text, list, cells, index, written, style);
    }
  }
}

/** The text's layout: `unit` is the indentation of one level, undefined if everything is on one line. */
interface Style {
  readonly unit: string | undefined;
  write(value: unknown, depth: number): string;
}

function styleOf(text: string): Style {
  const unit = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1];
  return {
    unit,
    write: (value, depth) =>
      unit === undefined
        ? JSON.stringify(value)
        : JSON.stringify(value, undefined, unit).replaceAll("\n", `\n${unit.repeat(depth)}`),
  };
}

/** Range of a value in a JSON text: from its first character to after its last. */
interface JsonRange {
  readonly start: number;
  readonly end: number;
}

interface JsonMember extends JsonRange {
  /** Key of an object's member; undefined for an item of a list. */
  readonly key: string | undefined;
}

const space = /[ \t\r\n]*/y;
const plain = /[^\s,\]}]+/y;

function replaced(
  text: string,
  place: JsonRange,
  { source, cellType }: Extract<NotebookEdit, { readonly type: "replace" }>,
  { style, now }: { readonly style: Style; readonly now: string | undefined },
): string {
  const type = cellType ?? now;
  if (type !== now) {
    const cell = z.record(z.string(), z.unknown()).parse(JSON.parse(text.slice(place.start, place.end)));
    const { outputs: _, execution_count: __, ...kept } = cell;
    const made = { ...kept, cell_type: type, source: lines(source), ...(type === "code" ? emptyOutputs : {}) };
    return splice(text, place, style.write(made, 2));
  }
  const wanted = new Map<string, unknown>([["source", lines(source)]]);
  if (type === "code") for (const [key, value] of Object.entries(emptyOutputs)) wanted.set(key, value);
  let changed = text;
  // From the end, so that earlier positions stay valid.
  for (const member of [...jsonMembers(text, place.start)].reverse()) {
    if (!wanted.has(member.key ?? "")) continue;
    const isString = member.key === "source" && text[member.start] === '"';
    changed = splice(changed, member, style.write(isString ? source : wanted.get(member.key ?? ""), 3));
  }
  return changed;
}

const emptyOutputs = { execution_count: null, outputs: [] };

function newCell(
  notebook: Notebook,
  { source, cellType, after = "" }: Extract<NotebookEdit, { readonly type: "insert" }>,
): Record<string, unknown> {
  const isCode = cellType === "code";
  return {
    cell_type: cellType,
    ...(isCode ? { execution_count: null } : {}),
    // Since nbformat 4.5. Not random, because a person may approve exactly this text.
    ...(notebook.nbformat_minor >= 5 ? { id: freshId(notebook, `${after}\n${source}`) } : {}),
    metadata: {},
    ...(isCode ? { outputs: [] } : {}),
    source: lines(source),
  };
}

function freshId(notebook: Notebook, seed: string): string {
  const taken = new Set(notebook.cells.map(({ id }) => id));
  for (let count = 0; ; count += 1) {
    const id = createHash("sha256").update(`${seed}\n${count}`).digest("hex").slice(0, 8);
    if (!taken.has(id)) return id;
  }
}

/** @param index index of the cell before; -1 for the beginning */
function inserted(
  text: string,
  list: JsonRange,
  cells: readonly JsonRange[],
  index: number,
  written: string,
  { unit }: Style,
): string {
  const gap = unit === undefined ? "" : `\n${unit.repeat(2)}`;
  const before = cells[index];
  if (before !== undefined) return splice(text, { start: before.end, end: before.end }, `,${gap}${written}`);
  const [first] = cells;
  if (first !== undefined) return splice(text, { start: first.start, end: first.start }, `${written},${gap}`);
  return splice(text, list, unit === undefined ? `[${written}]` : `[${gap}${written}\n${unit}]`);
}

/** Also removes the comma and the space that separated it from its neighbour. */
function without(text: string, cells: readonly JsonRange[], index: number): string {
  const place = cells[index] ?? { start: 0, end: 0 };
  const before = cells[index - 1];
  const after = cells[index + 1];
  if (before !== undefined) return splice(text, { start: before.end, end: place.end }, "");
  return splice(text, { start: place.start, end: after?.start ?? place.end }, "");
}

function lines(source: string): readonly string[] {
  return source.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function splice(text: string, { start, end }: JsonRange, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

/**
 * The members of the object, or the items of the list, that begins at `start`. Changing the text at these ranges leaves every
 * other byte as it is, unlike parsing and writing again, which would change numbers, escapes and duplicate keys.
 * @param text valid JSON: parse it first
 */
function jsonMembers(text: string, start: number): readonly JsonMember[] {
  const isObject = text[start] === "{";
  const members: JsonMember[] = [];
  let at = afterSpace(text, start + 1);
  while (text[at] !== "}" && text[at] !== "]") {
    let key: string | undefined;
    if (isObject) {
      const end = stringEnd(text, at);
      key = String(JSON.parse(text.slice(at, end)));
      at = afterSpace(text, afterSpace(text, end) + 1);
    }
    const end = valueEnd(text, at);
    members.push({ key, start: at, end });
    at = afterSpace(text, end);
    if (text[at] === ",") at = afterSpace(text, at + 1);
  }
  return members;
}

/** Range of the text's single value. */
function jsonRoot(text: string): JsonRange {
  const start = afterSpace(text, 0);
  return { start, end: valueEnd(text, start) };
}

function afterSpace(text: string, at: number): number {
  space.lastIndex = at;
  space.exec(text);
  return space.lastIndex;
}

function stringEnd(text: string, at: number): number {
  let end = at + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== "{" && text[start] !== "[") {
    plain.lastIndex = start;
    plain.exec(text);
    return plain.lastIndex;
  }
  let depth = 0;
  for (let at = start; ; at += 1) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth === 0) return at + 1;
  }
}
