import { isRecord } from "@gennai/protocol/json-value";
import { type PathProtection, pathProtections, pathRuleKinds } from "@gennai/protocol/model/governance/rule-kind";
import type { DeniedTool, PathRule, PatternRule, RuleFile, RuleLayer, RuleProblem } from "./compile/rule-set.ts";
import { misspeltKey } from "./misspelt-key.ts";

/** What parsing needs to know of the source text. */
export interface RuleSource {
  readonly layer: RuleLayer;
  /** Name of the file for people. */
  readonly file: string;
  /** Other programs read this file too, and may have their own keys in it. */
  readonly isShared?: boolean | undefined;
  /** 1-based line of the value at a path, or of its key; undefined if there is none. */
  lineOf(path: readonly (string | number)[]): number | undefined;
}

export interface ParsedRules {
  readonly rules: RuleFile;
  readonly problems: readonly RuleProblem[];
}

const pathKeys: Readonly<Record<string, PathProtection>> = Object.fromEntries(
  pathProtections.map((protection) => [pathRuleKinds[protection].key, protection]),
);
const topKeys = ["bashToolPatterns", ...Object.keys(pathKeys), "tools", "onInvalidRules"];
const patternKeys = ["pattern", "reason", "description", "ask", "action", "allow", "match", "notMatch", "name", "id"];
const poisonous = new Set(["__proto__", "constructor", "prototype"]);
/** More rules than this are a mistake, or an attack on the time of every decision. */
const maxRules = 5_000;
const maxTextLength = 2_000;

/**
 * Parses one rule file. An unknown top-level key is an error, because its rules protect nothing. It is a warning in a file that
 * other programs read too, and so is one inside a rule, unless it looks like a misspelt key. Never throws.
 */
export function parseRules(data: unknown, source: RuleSource): ParsedRules {
  const problems: RuleProblem[] = [];
  const add = (
    severity: RuleProblem["severity"],
    path: readonly (string | number)[],
    rule: string,
    message: string,
  ) => {
    problems.push({ severity, file: source.file, line: lineNear(source, path), rule, message });
  };
  const patterns: PatternRule[] = [];
  const paths: PathRule[] = [];
  const tools: DeniedTool[] = [];
  let onInvalidRules: RuleFile["onInvalidRules"];

  if (!isRecord(data)) {
    const found = data === null || data === undefined ? "is empty" : `is ${kindOf(data)}`;
    add("error", [], "", `${found}, not a set of rules; write ${topKeys.slice(0, 4).join(", ")} or remove the file`);
  } else {
    for (const [key, value] of Object.entries(data)) {
      const protection = Object.hasOwn(pathKeys, key) ? pathKeys[key] : undefined;
      if (key === "bashToolPatterns") {
        for (const [index, item] of listOf(value, [key], add).entries()) {
          const rule = patternRule(item, index, source, add);
          if (rule !== undefined) patterns.push(rule);
        }
      } else if (protection !== undefined) {
        for (const [index, item] of listOf(value, [key], add).entries()) {
          const name = `rules/${source.layer}/${key}/${index + 1}`;
          const text = pathText(item, [key, index], name, add);
          if (text !== undefined) paths.push({ name, protection, pattern: text, place: place(source, [key, index]) });
        }
      } else if (key === "tools") tools.push(...deniedTools(value, source, add));
      else if (key === "onInvalidRules") {
        if (value !== "continue" && value !== "read-only") {
          add("error", [key], key, "must be `continue` or `read-only`");
        } else if (source.layer !== "user") {
          add("warning", [key], key, "counts only in the user's own rules and is ignored here");
        } else onInvalidRules = value;
      } else unknownKey(key, topKeys, [key], "", add, source.isShared === true ? "warning" : "error");
    }
  }
  const total = patterns.length + paths.length + tools.length;
  if (total > maxRules) add("error", [], "", `has ${total} rules, more than ${maxRules}; join some of them`);
  const kept = total > maxRules ? { patterns: [], paths: [], tools: [] } : { patterns, paths, tools };
  return { rules: { layer: source.layer, file: source.file, ...kept, onInvalidRules }, problems };
}

type Add = (
  severity: RuleProblem["severity"],
  path: readonly (string | number)[],
  rule: string,
  message: string,
) => void;

function patternRule(item: unknown, index: number, source: RuleSource, add: Add): PatternRule | undefined {
  const path = ["bashToolPatterns", index];
  let name = `rules/${source.layer}/${index + 1}`;
  if (!isRecord(item)) {
    add("error", path, name, `is ${kindOf(item)}; write {pattern, reason}`);
    return undefined;
  }
  for (const key of Object.keys(item)) {
    if (!patternKeys.includes(key)) unknownKey(key, patternKeys, [...path, key], name, add);
  }
  const given = item["name"] ?? item["id"];
  if (typeof given === "string" && /^[\w.:-]{1,80}$/.test(given)) name = `rules/${source.layer}/${given}`;
  const { pattern, ask, action, allow } = item;
  if (typeof pattern !== "string") {
    add("error", [...path, "pattern"], name, `pattern is ${kindOf(pattern)}; write a regular expression in quotes`);
    return undefined;
  }
  if (pattern.length > maxTextLength) {
    add("error", [...path, "pattern"], name, `pattern is longer than ${maxTextLength} characters; split it`);
    return undefined;
  }
  if (/[\u0000-\u001f]/.test(pattern)) {
    const why = "in double quotes, YAML reads \\b as a backspace";
    add("error", [...path, "pattern"], name, `pattern holds a control character (${why}); write it in single quotes`);
    return undefined;
  }
  if (ask !== undefined && ask !== null && typeof ask !== "boolean") {
    add("error", [...path, "ask"], name, `ask is ${kindOf(ask)}; write true or false without quotes`);
  }
  if (allow === true || action === "allow") {
    add("warning", path, name, "would allow something; rules only refuse or ask, so it is ignored");
    return undefined;
  }
  if (action !== undefined && action !== "block" && action !== "deny" && action !== "ask") {
    add("error", [...path, "action"], name, `action is ${JSON.stringify(action)}; write block or ask`);
  }
  const reason = item["reason"] ?? item["description"];
  if (reason !== undefined && typeof reason !== "string") {
    add("error", [...path, "reason"], name, `reason is ${kindOf(reason)}; write a sentence in quotes`);
  } else if (reason === undefined || reason.trim() === "") {
    add("warning", path, name, "has no reason; the person asked and the model will not know why");
  }
  return {
    name,
    pattern,
    reason: typeof reason === "string" && reason.trim() !== "" ? reason.trim() : `matches ${pattern}`,
    ask: ask === true || (ask !== false && action === "ask"),
    match: examples(item["match"], [...path, "match"], name, add),
    notMatch: examples(item["notMatch"], [...path, "notMatch"], name, add),
    place: place(source, path),
  };
}

function examples(value: unknown, path: readonly (string | number)[], rule: string, add: Add): readonly string[] {
  if (value === undefined || value === null) return [];
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item) => {
    if (typeof item === "string") return [item];
    add("error", path, rule, `an example is ${kindOf(item)}; write a command in quotes`);
    return [];
  });
}

function pathText(item: unknown, path: readonly (string | number)[], rule: string, add: Add): string | undefined {
  if (item === null) {
    add(
      "error",
      path,
      rule,
      "is empty; write a path in quotes (an unquoted ~ means nothing in YAML), or remove the line",
    );
  } else if (isRecord(item)) {
    add(
      "error",
      path,
      rule,
      "is not a path; write only the path in quotes (path rules refuse; only bashToolPatterns can ask)",
    );
  } else if (typeof item !== "string") add("error", path, rule, `is ${kindOf(item)}; write a path in quotes`);
  else if (item.trim() === "" || item === "!") add("error", path, rule, "is an empty path; remove the line");
  else if (item.length > maxTextLength) add("error", path, rule, `is longer than ${maxTextLength} characters`);
  else if (/[\u0000-\u001f]/.test(item)) add("error", path, rule, "holds a control character");
  else if (/\$|%\w+%/.test(item)) {
    add(
      "error",
      path,
      rule,
      `${JSON.stringify(item)} holds a variable, which is not replaced; write ~/ or the whole path`,
    );
  } else return item;
  return undefined;
}

function deniedTools(value: unknown, source: RuleSource, add: Add): readonly DeniedTool[] {
  if (value === null) {
    add("warning", ["tools"], "tools", "is empty");
    return [];
  }
  if (!isRecord(value)) {
    add("error", ["tools"], "tools", `is ${kindOf(value)}; write {deny: [names]}`);
    return [];
  }
  for (const key of Object.keys(value)) if (key !== "deny") unknownKey(key, ["deny"], ["tools", key], "tools", add);
  if (!Object.hasOwn(value, "deny")) return [];
  return listOf(value["deny"], ["tools", "deny"], add).flatMap((item, index) => {
    const path = ["tools", "deny", index];
    if (typeof item === "string" && item.trim() !== "") {
      const tool = item.trim().toLowerCase();
      return [{ name: `rules/${source.layer}/tools/${tool}`, tool, place: place(source, path) }];
    }
    add("error", path, "tools.deny", `is ${kindOf(item)}; write the name of a tool`);
    return [];
  });
}

/** A list that is there but empty, as in files where all entries are commented out, is a warning. */
function listOf(value: unknown, path: readonly (string | number)[], add: Add): readonly unknown[] {
  const name = path.join(".");
  if (Array.isArray(value)) return value;
  if (value === null) add("warning", path, name, "is empty");
  else add("error", path, name, `is ${kindOf(value)}; write a list`);
  return [];
}

function unknownKey(
  key: string,
  known: readonly string[],
  path: readonly (string | number)[],
  rule: string,
  add: Add,
  severity: RuleProblem["severity"] = "warning",
): void {
  const name = [rule, key].filter((part) => part !== "").join(": ");
  if (poisonous.has(key)) {
    add("error", path, name, "is not a key of a rule file; remove it");
    return;
  }
  const meant = misspeltKey(key, known);
  if (meant === undefined) {
    const ignored = severity === "warning" ? " and is ignored" : "";
    add(severity, path, name, `is not a known key${ignored}; known are ${known.join(", ")}`);
  } else add("error", path, name, `is not a known key; did you mean ${meant}?`);
}

function place(source: RuleSource, path: readonly (string | number)[]): string {
  return `${source.file}:${lineNear(source, path)}`;
}

/** The line of a value, or of the nearest one around it that has one. */
function lineNear(source: RuleSource, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const line = source.lineOf(path.slice(0, length));
    if (line !== undefined) return line;
  }
  return 1;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return `a string (${value.slice(0, 40)})`;
  if (typeof value === "number" || typeof value === "boolean") return `a ${typeof value} (${value})`;
  return `a ${typeof value}`;
}
