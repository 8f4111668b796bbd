import type { OptionSpec } from "../../programs/program.ts";
import { literalWord, type ResolvedWord, wordTail } from "./resolve-word.ts";

export type ValueKind = "none" | "optional" | "text" | "path" | "written" | "target" | "pattern" | "glob";

export interface ParsedOptions {
  /** Options that were given, e.g. `-n`, `--color`. */
  readonly flags: ReadonlySet<string>;
  readonly values: readonly { readonly option: string; readonly kind: ValueKind; readonly word: ResolvedWord }[];
  readonly operands: readonly ResolvedWord[];
  /** The first word that is not in the spec, or that cannot be told; undefined when everything is known. */
  readonly unknown: string | undefined;
  /** All words that are not in the spec. */
  readonly strange: readonly ResolvedWord[];
}

type SpecTable = ReadonlyMap<string, ValueKind>;

const tables = new Map<OptionSpec, SpecTable>();

const kinds: Readonly<Record<string, ValueKind>> = {
  "": "none",
  "?": "optional",
  "=": "text",
  "=@": "path",
  "=>": "written",
  "=/": "target",
  "=!": "pattern",
  "=*": "glob",
};

function tableOf(spec: OptionSpec): SpecTable {
  const known = tables.get(spec);
  if (known !== undefined) return known;
  const entries = spec.split(" ").map((entry): [string, ValueKind] => {
    const [, name = entry, mark = ""] = /^(--?[^=?]+)(.*)$/.exec(entry) ?? [];
    return [name, kinds[mark] ?? "text"];
  });
  const table = new Map(entries);
  tables.set(spec, table);
  return table;
}

/**
 * Parses options like GNU getopt: clusters, joined or separate values, options after operands, `--`. Abbreviated long options
 * are not recognised: an option spelled differently from the table is not proven.
 *
 * @param options.stopAtOperand true for wrappers: everything after the first operand belongs to the inner command
 */
export function parseOptions(
  words: readonly ResolvedWord[],
  spec: OptionSpec,
  options: { readonly stopAtOperand?: boolean } = {},
): ParsedOptions {
  const table = tableOf(spec);
  const flags = new Set<string>();
  const values: ParsedOptions["values"][number][] = [];
  const operands: ResolvedWord[] = [];
  const strange: ResolvedWord[] = [];
  let index = 0;
  const take = (option: string, kind: ValueKind, joined: ResolvedWord | undefined): void => {
    const word = joined ?? words[++index];
    if (word === undefined) strange.push(literalWord(option));
    else values.push({ option, kind, word });
  };
  for (; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const text = word.literal;
    if (text === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    const start = text ?? commonStart(word);
    if (word.kind === "choice" && word.forms.some((form) => form.startsWith("-"))) strange.push(word);
    if (!start.startsWith("-") || text === "-") {
      // A glob or a variable may come out as an option; the caller sees it among the operands and decides.
      operands.push(word);
      if (options.stopAtOperand) {
        operands.push(...words.slice(index + 1));
        break;
      }
      continue;
    }
    if (start.startsWith("--")) {
      const equals = start.indexOf("=");
      const name = equals < 0 ? start : start.slice(0, equals);
      const kind = table.get(name);
      if (kind === undefined || (equals < 0 && text === undefined) || (equals >= 0 && kind === "none")) {
        strange.push(word);
        continue;
      }
      flags.add(name);
      if (equals >= 0) take(name, kind === "optional" ? "text" : kind, wordTail(word, equals + 1));
      else if (kind !== "none" && kind !== "optional") take(name, kind, undefined);
      continue;
    }
    if (/^-\d+$/.test(start) && table.has("-#")) {
      flags.add("-#");
      continue;
    }
    const whole = table.get(start);
    if (whole !== undefined && start.length > 2 && text !== undefined) {
      flags.add(start);
      if (whole !== "none" && whole !== "optional") take(start, whole, undefined);
      continue;
    }
    for (let offset = 1; offset < start.length; offset += 1) {
      const name = `-${start[offset]}`;
      const kind = table.get(name);
      if (kind === undefined) {
        strange.push(word);
        break;
      }
      flags.add(name);
      if (kind === "none") continue;
      const rest = start.slice(offset + 1);
      if (kind === "optional") break;
      take(name, kind, rest === "" && text !== undefined ? undefined : wordTail(word, offset + 1));
      break;
    }
    if (text === undefined && values.at(-1)?.word.raw !== word.raw) strange.push(word);
  }
  return { flags, values, operands, unknown: strange[0]?.raw, strange };
}

/** The literal text with which all forms of a word begin. */
function commonStart(word: ResolvedWord): string {
  const [form = ""] = word.forms;
  if (word.forms.length !== 1)
    return word.kind === "choice" ? (word.forms.find((other) => other.startsWith("-")) ?? "") : "";
  return form.replace(/[*?[{(].*$/s, "").replace(/\\(.)/g, "$1");
}

/**
 * Whether one of these options is present, including abbreviated long ones, without a table: for dangers, which look for an
 * option anywhere.
 *
 * @param options e.g. `-f --force`
 * @param valued letters of short options whose value may be joined to them: what follows one in a cluster is no option
 */
export function hasOption(words: readonly ResolvedWord[], options: string, valued = ""): boolean {
  const wanted = options.split(" ");
  for (const word of words) {
    const text = word.literal ?? commonStart(word);
    if (text === "--") return false;
    if (text.startsWith("--")) {
      const [name = text] = text.split("=", 1);
      if (name.length > 2 && wanted.some((option) => option.startsWith(name))) return true;
    } else if (text.startsWith("-")) {
      for (const letter of text.slice(1)) {
        if (wanted.includes(`-${letter}`)) return true;
        if (valued.includes(letter)) break;
      }
    }
  }
  return false;
}

/** Words that are not options; all of them after `--`. */
export function operandsOf(words: readonly ResolvedWord[]): readonly ResolvedWord[] {
  const operands: ResolvedWord[] = [];
  for (const [index, word] of words.entries()) {
    const text = word.literal ?? commonStart(word);
    if (text === "--") return [...operands, ...words.slice(index + 1)];
    if (!text.startsWith("-") || text === "-") operands.push(word);
  }
  return operands;
}
