import { isRecord } from "@gennai/protocol/json-value";
import type { Intent } from "./intent.ts";
import { fieldKeys, type IntentField, intentsKey, isIntentsKey } from "./intent-fields.ts";
import type { IntentProblem, IntentSource } from "./intent-problem.ts";
import { scopeGlob } from "./scope-glob.ts";

export interface ParsedIntents {
  /** False when the file is not a list of intents at all: then nothing it says counts. */
  readonly readable: boolean;
  readonly intents: readonly Intent[];
  /** In the order of the file. */
  readonly problems: readonly IntentProblem[];
}

type Path = readonly (string | number)[];
type Report = (
  severity: IntentProblem["severity"],
  intent: string,
  path: Path,
  message: string,
  needle?: string,
) => void;

const maxIntents = 1000;
const maxEntries = 500;
/** Nothing that could be mistaken for a path, a tag or a second line. */
const idShape = /^(?!.*\.\.)[\p{L}\p{N}][\p{L}\p{N}._:#@+-]{0,99}$/u;

/**
 * Reads what `.orchestration/active_intents.yaml` holds, in the canonical form or in one found in the wild: `intents:`, a bare
 * list, a map by id, other spellings of the fields, texts in place of lists. What is read differently than written is a
 * problem with file and line. Of intents with the same id none can be selected.
 *
 * @param data the YAML document as plain values
 */
export function parseIntents(data: unknown, source: IntentSource): ParsedIntents {
  const problems: IntentProblem[] = [];
  const report: Report = (severity, intent, path, message, needle) => {
    problems.push({ severity, file: source.file, line: source.lineOf(path, needle), intent, message });
  };
  const list = listOf(data, report);
  if (list === undefined) return { readable: false, intents: [], problems };
  if (list.length > maxIntents) {
    report(
      "error",
      "",
      [],
      `holds ${list.length} intents, only the first ${maxIntents} are read; archive the old ones`,
    );
  }
  const read = list.slice(0, maxIntents).flatMap(({ value, path, key }) => {
    const intent = intentOf(value, path, key, report);
    return intent === undefined ? [] : [{ intent, path }];
  });
  return { readable: true, intents: withoutDoubles(read, report), problems };
}

interface Item {
  readonly value: unknown;
  readonly path: Path;
  /** The intent's key, where the file is a map by id. */
  readonly key?: string;
}

/** undefined when the root is nothing that could hold intents; an empty file holds none. */
function listOf(data: unknown, report: Report): readonly Item[] | undefined {
  if (data === null || data === undefined) return [];
  if (Array.isArray(data)) {
    report("warning", "", [], `is a bare list; put it under \`${intentsKey}:\``);
    return items(data, []);
  }
  const shape = `must be \`${intentsKey}:\` with a list of intents`;
  if (!isRecord(data)) {
    report("error", "", [], shape);
    return undefined;
  }
  const keys = Object.keys(data).filter(isIntentsKey);
  const key = keys.includes(intentsKey) ? intentsKey : keys[0];
  if (key === undefined) {
    report("error", "", [], shape);
    return undefined;
  }
  for (const other of keys) {
    if (other !== key) report("warning", "", [other], `\`${other}\` is ignored, because \`${key}\` is there`);
  }
  if (key !== intentsKey) report("warning", "", [key], `\`${key}\` is read as \`${intentsKey}\`; rename it`);
  const value = data[key];
  if (value === null) return [];
  if (Array.isArray(value)) return items(value, [key]);
  if (!isRecord(value)) {
    report("error", "", [key], shape);
    return undefined;
  }
  report("warning", "", [key], "is a map by id; write a list of intents, each with its `id`");
  return Object.entries(value).map(([id, each]) => ({ value: each, path: [key, id], key: id }));
}

function items(list: readonly unknown[], path: Path): readonly Item[] {
  return list.map((value, index) => ({ value, path: [...path, index] }));
}

function intentOf(value: unknown, path: Path, key: string | undefined, report: Report): Intent | undefined {
  if (!isRecord(value)) {
    report("error", "", path, "must be an intent: a map with id, name, status and owned_scope");
    return undefined;
  }
  const { chosen, ignored } = fieldKeys(Object.keys(value));
  const at = (field: IntentField): Path => [...path, chosen.get(field) ?? field];
  const get = (field: IntentField): unknown => {
    const name = chosen.get(field);
    return name === undefined ? undefined : value[name];
  };

  const id = text(get("id") ?? key);
  if (id === undefined || !idShape.test(id)) {
    const said = id === undefined ? "has no id" : `has the id ${JSON.stringify(id.slice(0, 120))}`;
    report(
      "error",
      "",
      id === undefined ? path : at("id"),
      `an intent ${said}; an id is letters, digits and . _ : # @ + -`,
    );
    return undefined;
  }
  for (const [field, name] of chosen) {
    if (name !== field) report("warning", id, [...path, name], `\`${name}\` is read as \`${field}\`; rename it`);
  }
  for (const name of ignored)
    report("warning", id, [...path, name], `\`${name}\` is ignored, it says the same as another field`);

  const name = text(get("name"));
  if (name === undefined) report("warning", id, path, "has no name");
  const status = text(get("status")) ?? "";
  const meaning = statusMeans(status);
  if (status === "") report("warning", id, path, "has no status, so it cannot be selected; write `status: active`");
  else if (meaning === "unknown") {
    report(
      "warning",
      id,
      at("status"),
      `the status ${JSON.stringify(status)} is not known, so it cannot be selected; write active`,
    );
  }

  const listAt = (field: IntentField): readonly ListEntry[] => textList(get(field), at(field), id, field, report);
  const { scope, usable } = checkedScope(listAt("owned_scope"), id, report);
  if (scope.every((entry) => entry.startsWith("!"))) {
    report(
      "warning",
      id,
      chosen.has("owned_scope") ? at("owned_scope") : path,
      "owns nothing: `owned_scope` lists no path",
    );
  }
  return {
    id,
    name: name ?? id,
    status,
    selectable: meaning === "active" && usable,
    ownedScope: scope,
    constraints: listAt("constraints").map(({ entry }) => entry),
    acceptanceCriteria: listAt("acceptance_criteria").map(({ entry }) => entry),
  };
}

/** Without entries that cannot be read. An exclusion among them would widen the scope if it were left out. */
function checkedScope(
  entries: readonly ListEntry[],
  id: string,
  report: Report,
): { readonly scope: readonly string[]; readonly usable: boolean } {
  const scope: string[] = [];
  let usable = true;
  for (const { entry, path } of entries) {
    const result = scopeGlob(entry);
    if (result.ok) {
      scope.push(entry);
      if (/\\(?![[\](){}])/.test(entry)) report("warning", id, path, `${entry}: write / between directories`, entry);
      continue;
    }
    if (result.excludes) usable = false;
    const effect = result.excludes ? "the intent cannot be selected until this is corrected" : "the entry owns nothing";
    report("error", id, path, `${JSON.stringify(entry.slice(0, 120))} ${result.problem}; ${effect}`, entry);
  }
  return { scope, usable };
}

interface ListEntry {
  readonly entry: string;
  readonly path: Path;
}

/** A list of texts; a single text is split into lines. */
function textList(value: unknown, path: Path, id: string, field: IntentField, report: Report): readonly ListEntry[] {
  if (value === null || value === undefined) return [];
  const single = text(value);
  if (single !== undefined) {
    report("warning", id, path, `\`${field}\` should be a list`);
    return linesOf(single).map((entry) => ({ entry, path }));
  }
  if (!Array.isArray(value)) {
    report("error", id, path, `\`${field}\` must be a list of texts`);
    return [];
  }
  if (value.length > maxEntries)
    report("error", id, path, `\`${field}\` has more than ${maxEntries} entries; the rest is not read`);
  return value.slice(0, maxEntries).flatMap((each: unknown, index): readonly ListEntry[] => {
    const entry = text(each);
    if (entry === undefined) {
      report(
        "error",
        id,
        [...path, index],
        `\`${field}\` must hold texts only; put quotes around an entry with a colon`,
      );
      return [];
    }
    return entry === "" ? [] : [{ entry, path: [...path, index] }];
  });
}

/** Lines of a block of text, without the dashes of a list. */
export function linesOf(block: string): readonly string[] {
  return block
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*-\s+/, "").trim())
    .filter((line) => line !== "");
}

function withoutDoubles(
  read: readonly { readonly intent: Intent; readonly path: Path }[],
  report: Report,
): readonly Intent[] {
  const count = new Map<string, number>();
  const folded = (intent: Intent): string => intent.id.normalize("NFKC").toLowerCase();
  for (const { intent } of read) count.set(folded(intent), (count.get(folded(intent)) ?? 0) + 1);
  return read.map(({ intent, path }) => {
    if ((count.get(folded(intent)) ?? 0) < 2) return intent;
    report("error", intent.id, path, "another intent has this id too, so neither can be selected; give each its own");
    return { ...intent, selectable: false };
  });
}

function text(value: unknown): string | undefined {
  if (typeof value === "string") return value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Statuses that say that the intent is being worked on now. */
const active: ReadonlySet<string> = new Set(["active", "in_progress", "inprogress", "ongoing", "doing"]);

/**
 * Known statuses that do not mean active. `open` is among them: it says that an intent is unfinished, not that work on it is
 * authorised.
 */
const inactive: ReadonlySet<string> = new Set(
  (
    "open new ready todo to_do backlog planned pending proposed draft blocked paused on_hold waiting review in_review " +
    "done complete completed closed resolved cancelled canceled rejected abandoned archived deprecated inactive"
  ).split(" "),
);

/** Whether a status, in any letter case and with `-`, `_` or spaces between its words, means that work may continue. */
function statusMeans(status: string): "active" | "inactive" | "unknown" {
  const word = status
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "_");
  if (active.has(word)) return "active";
  return inactive.has(word) ? "inactive" : "unknown";
}
