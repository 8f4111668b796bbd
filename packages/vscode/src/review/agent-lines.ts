import { mergedText } from "@gennai/protocol/diff/three-way-diff";
import { lineHunks, linesOf, placeSpans, withLines } from "./line-hunks.ts";

/** One change of a file by the agent. Texts; undefined: there was, or is, no file. */
export interface AgentStep {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * A file with the agent's lines alone on top of another version of it.
 * - `same`: that version has all of them
 * - `gone`: the agent deleted the file
 * - `apart`: its user changed the same place; only they can tell what belongs together
 */
export type WithAgentLines =
  | { readonly type: "same" | "gone" | "apart" }
  | { readonly type: "text"; readonly text: string };

/**
 * Puts what the agent wrote, as far as it is still in the file, on top of what git has of it.
 *
 * @param onto what git has, as it would be in the working tree; undefined: nothing
 * @param now the present file; undefined: it is gone
 * @param steps the agent's, oldest first; those of its user may lie between them
 */
export function withAgentLines(
  onto: string | undefined,
  now: string | undefined,
  steps: readonly AgentStep[],
): WithAgentLines {
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return { type: "same" };
  if (now === undefined) {
    if (last.after !== undefined || onto === undefined) return { type: "same" };
    return { type: last.before === onto ? "gone" : "apart" };
  }
  // Its user had it before git did.
  if (onto === undefined && first.before !== undefined) return { type: "apart" };
  const written = linesOf(now);
  const users = linesOf(withoutAgent(now, steps));
  const there = linesOf(onto ?? "");
  const lines = onto === undefined ? inserted(users, written) : onTop(users, written, there);
  if (lines === undefined) return { type: "apart" };
  const text = likeText(now, lines);
  return text === onto || lines.join("") === there.join("") ? { type: "same" } : { type: "text", text };
}

/** The file as it would be without the agent, with line feeds. A line that its user changed since is theirs. */
export function withoutAgent(now: string, steps: readonly AgentStep[]): string {
  return steps.reduceRight((lines, step) => withoutStep(lines, step), linesOf(now)).join("");
}

/** Line by line, because its user may have changed one of many lines that the agent wrote together. */
function withoutStep(now: readonly string[], { before = "", after = "" }: AgentStep): readonly string[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const hunks = lineHunks(old, fresh);
  const places = placeSpans(
    fresh.map((_, at) => ({ start: at, end: at + 1 })),
    fresh,
    now,
  );
  const between = placeSpans(
    hunks.map((hunk) => ({ start: hunk.fresh.start, end: hunk.fresh.start })),
    fresh,
    now,
  );
  const gone = new Set<number>();
  const back = new Map<number, readonly string[]>();
  for (const [at, hunk] of hunks.entries()) {
    const isRemoval = hunk.fresh.start === hunk.fresh.end;
    const still = places
      .slice(hunk.fresh.start, hunk.fresh.end)
      .flatMap((span) => (span === undefined ? [] : [span.start]));
    const place = isRemoval ? between[at]?.start : still[0];
    if (place === undefined) continue;
    for (const line of still) gone.add(line);
    back.set(place, old.slice(hunk.old.start, hunk.old.end));
  }
  const lines = [...now, ""].flatMap((line, at) => [
    ...(back.get(at) ?? []),
    ...(gone.has(at) || line === "" ? [] : [line]),
  ]);
  return lines.map((line, at) => (line.endsWith("\n") || at === lines.length - 1 ? line : `${line}\n`));
}

/** The lines that a text has more than another. */
function inserted(less: readonly string[], more: readonly string[]): readonly string[] {
  return lineHunks(less, more).flatMap(({ fresh }) => more.slice(fresh.start, fresh.end));
}

/** What changed between two texts, on a third; changes of neighbouring lines are told apart. undefined: of the same. */
function onTop(
  from: readonly string[],
  to: readonly string[],
  there: readonly string[],
): readonly string[] | undefined {
  const [base, mine, theirs] = [from.join(""), to.join(""), there.join("")];
  const merged = mergedText({ base, mine, theirs });
  if (merged !== undefined) return linesOf(merged);
  const hunks = lineHunks(from, to);
  const spans = placeSpans(
    hunks.map(({ old }) => old),
    from,
    there,
  );
  let lines = there;
  for (const [at, { fresh }] of [...hunks.entries()].reverse()) {
    const span = spans[at];
    if (span === undefined) return undefined;
    lines = withLines(lines, span, to.slice(fresh.start, fresh.end));
  }
  return lines;
}

/** Lines with the line ends and the byte-order mark of a text. */
function likeText(text: string, lines: readonly string[]): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  return mark + lines.map((line) => line.replace(/\n$/, end)).join("");
}
