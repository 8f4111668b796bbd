import type { Step } from "./request.ts";
import { cut, pathOf, type RequestText, requestText, valueOf } from "./request-text.ts";

export type ParsedRequest =
  | { readonly type: "steps"; readonly steps: readonly Step[] }
  /** What the assistant understands is asked for. */
  | { readonly type: "help" }
  /** `clause` is the part that made no sense; `usage` says how to put it, where that is known. */
  | { readonly type: "not-understood"; readonly clause: string; readonly usage: string | undefined };

interface Form {
  /** As users are told it. */
  readonly usage: string;
  /** Of the whole clause; its groups are what `step` gets, empty where they matched nothing. */
  readonly pattern: RegExp;
  readonly step: (...groups: readonly [RequestText, RequestText, RequestText]) => Step | undefined;
}

/** The requests by their first word. */
export const forms: ReadonlyMap<string, Form> = new Map(
  Object.entries<Form>({
    replace: {
      usage: "replace A with B in GLOB",
      pattern: /^replace\s(.+?)\swith\s(.+)\sin\s(.+)$/dis,
      step: replacement,
    },
    rename: {
      usage: "rename A to B in GLOB",
      pattern: /^rename\s(.+?)\sto\s(.+)\sin\s(.+)$/dis,
      step: replacement,
    },
    create: {
      usage: "create FILE with TEXT (or the text below in a fenced block)",
      pattern: /^create\s(.+?)(?:\swith\s(.+)|\s(\uE000+))?$/dis,
      step: (path, text, block) => ({
        kind: "create",
        path: pathOf(path),
        content: endWithNewline(valueOf(text) || valueOf(block)),
      }),
    },
    append: {
      usage: "append TEXT to FILE",
      pattern: /^append\s(.+)\sto\s(.+)$/dis,
      step: (text, path) => ({ kind: "append", path: pathOf(path), text: endWithNewline(valueOf(text)) }),
    },
    delete: {
      usage: "delete FILE",
      pattern: /^delete\s(.+)$/dis,
      step: (path) => ({ kind: "delete", path: pathOf(path) }),
    },
    find: {
      usage: "find TEXT, find TEXT in GLOB",
      pattern: /^find\s(?:(.+)\sin\s(.+)|(.+))$/dis,
      step: (searched, glob, alone) => {
        const text = valueOf(searched) || valueOf(alone);
        return text === "" ? undefined : { kind: "find", text, glob: pathOf(glob) || undefined };
      },
    },
    show: {
      usage: "show FILE",
      pattern: /^show\s(.+)$/dis,
      step: (path) => ({ kind: "show", path: pathOf(path) }),
    },
    list: {
      usage: "list, list DIR",
      pattern: /^list(?:\sthe\sfiles)?(?:\s(?:in\s)?(.+))?$/dis,
      step: (path) => ({ kind: "list", path: pathOf(path) || undefined }),
    },
    run: {
      usage: "run COMMAND, run COMMAND in the terminal",
      pattern: /^run\s(.+?)(\sin\s(?:the|a)\sterminal[.!]?)?$/dis,
      step: (command, terminal) => ({ kind: terminal.written === "" ? "run" : "terminal", command: valueOf(command) }),
    },
    verify: {
      usage: "verify COMMAND (at the end of a plan: what proves it)",
      pattern: /^verify\s(.+)$/dis,
      step: (command) => ({ kind: "verify", command: valueOf(command) }),
    },
    say: { usage: "say TEXT", pattern: /^say\s(.+)$/dis, step: (text) => ({ kind: "say", text: valueOf(text) }) },
  }),
);

const joint = new RegExp(String.raw`\s(?:and\s)?then,?\s+(?=(?:${[...forms.keys()].join("|")})(?!\S))`, "gi");

/**
 * Reads the assistant's small language: keywords in any case; an argument is a quoted text, a fenced block, or the plain words up
 * to the next keyword; `then` before a verb joins requests. Pure.
 */
export function parseRequest(text: string): ParsedRequest {
  if (/^(?:help[.!?]?)?$/i.test(text.trim())) return { type: "help" };
  const steps: Step[] = [];
  for (const clause of clausesOf(requestText(text))) {
    const form = forms.get(/^\S*/.exec(clause.masked)?.[0].toLowerCase() ?? "");
    const ranges = form?.pattern.exec(clause.masked)?.indices;
    const group = (index: number) => cut(clause, ...(ranges?.[index] ?? ([0, 0] as const)));
    const step = ranges === undefined ? undefined : form?.step(group(1), group(2), group(3));
    if (step === undefined) return { type: "not-understood", clause: clause.written, usage: form?.usage };
    steps.push(step);
  }
  return { type: "steps", steps };
}

function clausesOf(whole: RequestText): readonly RequestText[] {
  const joints = [...whole.masked.matchAll(joint)];
  const starts = [0, ...joints.map(({ index, 0: { length } }) => index + length)];
  return starts.map((start, index) => cut(whole, start, joints[index]?.index));
}

function replacement(find: RequestText, other: RequestText, path: RequestText): Step | undefined {
  if (valueOf(find) === "") return undefined;
  return { kind: "replace", find: valueOf(find), replacement: valueOf(other), path: pathOf(path) };
}

function endWithNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
