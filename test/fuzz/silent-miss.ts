import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { CommandAnalysis, CommandPath } from "@gennai/governance/command-analysis";
import { scratchPlaces } from "./scratch.ts";

/** Programs with a row, that change only what they name: of them the analysis must know every path. All others may do anything, and ask. */
const plainPrograms =
  /^(?:cat|head|ls|grep|wc|sort|uniq|g?sed|awk|cp|mv|rm|rmdir|touch|mkdir|ln|install|tee|truncate|chmod|find|xxd|base64|cmp|diff|comm|printf|echo|test|\[|read|mapfile|:|cd|env|nice|timeout|command|time|nohup|stdbuf|bash|sh|true|wait|f|unlink|shred|tree|mktemp|export)$/;

/** What the analysis of a command missed of what it changed; undefined when it missed nothing. */
export function silentMiss(command: string, changed: readonly string[]): string | undefined {
  const analysis = analyseCommand(command, { cwd: scratchPlaces.ws, home: scratchPlaces.home });
  // A look at the state of a repository writes down what it saw.
  const shown = changed.filter((path) => path !== "/ws/.git/index");
  if (analysis.readsOnly) return shown.length === 0 ? undefined : `called reading, and changed ${shown.join(", ")}`;
  if (analysis.unresolved.length > 0 || !followed(analysis)) return undefined;
  const reported = analysis.paths.filter(
    ({ access }) => access === "write" || access === "delete" || access === "unknown",
  );
  const missed = shown.filter((path) => !reported.some((known) => covers(known, path)));
  return missed.length === 0
    ? undefined
    : `changed ${missed.join(", ")} unseen; it named ${reported.map(({ absolute }) => absolute).join(", ")}`;
}

/** Whether only the command's text decides about paths: no words from an input, no unknown programs. */
function followed({ commands }: CommandAnalysis): boolean {
  return commands.every(({ name }) => plainPrograms.test(name));
}

/** A change below a named directory is told by it, and so is the making of directories above a named file. */
function covers(known: CommandPath, changed: string): boolean {
  const parts = known.absolute.split("/");
  const wildcard = known.pattern === true ? parts.findIndex((part) => /[*?[{]/.test(part)) : -1;
  const fixed = (wildcard < 0 ? parts : parts.slice(0, wildcard)).join("/").replace(/\\(.)/g, "$1") || "/";
  const prefix = fixed === "/" ? "/" : `${fixed}/`;
  return changed === fixed || changed.startsWith(prefix) || `${fixed}/`.startsWith(`${changed}/`);
}
