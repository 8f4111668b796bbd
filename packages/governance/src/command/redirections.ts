import type { HereDoc, Redirection, WordPart } from "unbash";
import type { AnalysisReport } from "./analysis-report.ts";
import { type CommandInput, type Invocation, inheritedInput, type Place } from "./words/invocation.ts";
import { expandPath } from "./words/resolve-path.ts";
import { resolveWord } from "./words/resolve-word.ts";
import type { ShellScope } from "./words/shell-scope.ts";

const harmlessTarget = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/;

interface RedirectionWalk {
  readonly report: AnalysisReport;
  readonly place: Place;
  /** Looks at what runs inside a word. */
  visitPart(part: WordPart): void;
}

/** Reports where redirections read and write; returns the last input redirection, if any. */
export function redirections(
  nodes: readonly Redirection[],
  scope: ShellScope,
  walk: RedirectionWalk,
): CommandInput | undefined {
  let input: CommandInput | undefined;
  const place: Invocation = {
    name: "",
    program: "",
    words: [],
    wrappers: [],
    directories: scope.directories,
    input: inheritedInput,
    appendsInput: false,
  };
  for (const node of nodes) {
    if (node.type === "HereDoc") {
      input = { type: "text", text: hereDocument(node, walk), sources: [] };
      continue;
    }
    if (node.target === undefined) {
      walk.report.unresolved("a redirection without a target");
      continue;
    }
    for (const part of node.target.parts ?? []) walk.visitPart(part);
    const targets = resolveWord(node.target, scope);
    if (node.type === "HereString") {
      input = { type: "text", text: targets.length === 1 ? targets[0]?.literal : undefined, sources: [] };
      continue;
    }
    for (const target of targets) {
      const duplicates = node.operator === ">&" || node.operator === "<&";
      if (duplicates && /^(?:\d+-?|-)$/.test(target.literal ?? "")) continue;
      if (harmlessTarget.test(target.literal ?? "")) continue;
      if (/^\/dev\/(?:tcp|udp)\//.test(target.forms[0] ?? "")) {
        walk.report.ask("floor/send-data", "This opens a connection to another machine.");
        continue;
      }
      if (node.operator === "<") {
        walk.report.path(target, "read", place);
        input = { type: "file", text: undefined, sources: [] };
        continue;
      }
      if (node.target.parts?.some((part) => part.type === "ProcessSubstitution") === true) continue;
      walk.report.path(target, "write", place);
      const paths = target.forms.map((form) => expandPath(form, scope.directories[0] ?? "/", walk.place.home));
      if (paths.some((path) => /^\/dev\/(?!shm\/)/.test(path)))
        walk.report.refuse("floor/raw-device", "This writes straight to a device.");
      if (target.kind !== "literal") walk.report.unresolved("a redirection to a file that is not known before it runs");
    }
  }
  return input;
}

function hereDocument(node: HereDoc, walk: RedirectionWalk): string {
  for (const part of node.body.parts ?? []) walk.visitPart(part);
  // Substitutions stay as written: a script is parsed again.
  return node.operator === "<<-" ? node.body.text.replace(/^\t+/gm, "") : node.body.text;
}
