import { z } from "zod";
import { bullets, counted, isThere, joined, nothingFound, refused } from "./change-files.ts";
import { quote, type Step } from "./request/request.ts";
import { countOccurrences, filesWithText, globMatches, isGlob } from "./rounds/find-files.ts";
import { type ReadOutcome, readFiles } from "./rounds/read-files.ts";
import { describeFailure, parseJson } from "./rounds/tool-replies.ts";
import { callTool, type StepReport, type Work } from "./rounds/tool-round.ts";

export type ChangeStep = Extract<Step, { readonly kind: "replace" | "create" | "append" | "delete" | "move" }>;

export interface DraftedFile {
  /** undefined: not there. */
  readonly before: string | undefined;
  after: string | undefined;
}

const proposalSchema = z.object({
  changes: z.array(
    z.object({
      path: z.string(),
      operation: z.string(),
      conflict: z.boolean().optional(),
      warning: z.string().optional(),
    }),
  ),
  has_conflicts: z.boolean().optional(),
  warnings: z.array(z.string()).optional(),
});

/** Changes that are worked out on paper and proposed in one call; later steps see what earlier ones drafted. */
export class ChangeDraft {
  readonly #files = new Map<string, DraftedFile>();
  readonly #notes: string[] = [];

  /** What was drafted so far, by path. */
  get files(): ReadonlyMap<string, Readonly<DraftedFile>> {
    return this.#files;
  }

  *add(step: ChangeStep): Work<StepReport> {
    switch (step.kind) {
      case "replace":
        return yield* this.#replace(step.find, step.replacement, step.glob);
      case "create":
        return yield* this.#create(step.path, step.content);
      case "append":
        return yield* this.#rewrite(step.path, (text) => joined(text, step.text), `append to ${step.path}`);
      case "delete":
        return yield* this.#rewrite(step.path, () => undefined, `delete ${step.path}`);
      case "move":
        return yield* this.#move(step.from, step.to);
    }
  }

  /** The one call of ProposeChanges, and the result; undefined when nothing would change. */
  *propose(): Work<StepReport | undefined> {
    const changes = [...this.#files].flatMap(([path, { before, after }]) => {
      if (before === after) return [];
      if (after === undefined) return [{ path, operation: "delete" }];
      return [{ path, operation: before === undefined ? "create" : "update", new_content: after }];
    });
    if (changes.length === 0) return undefined;
    const reply = yield* callTool(`Proposing ${counted(changes.length, "change")}.`, "ProposeChanges", { changes });
    if (reply.failure !== undefined) return refused("The proposal was refused, so nothing is proposed", reply.failure);
    const result = proposalSchema.safeParse(parseJson(reply.output));
    const lines = result.success
      ? result.data.changes.map((change) => {
          const marks = [change.conflict === true ? "conflict" : "", change.warning ?? ""].filter(
            (mark) => mark !== "",
          );
          return `${change.operation} ${change.path}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`;
        })
      : changes.map((change) => `${change.operation} ${change.path}`);
    const parts = [
      `Proposed ${counted(lines.length, "change")}; nothing is written until you apply them:\n${bullets(lines)}`,
      `What they do:\n${bullets(this.#notes)}`,
    ];
    if (result.data?.has_conflicts === true)
      parts.push("Some of them conflict with what is there: look before you apply.");
    if ((result.data?.warnings ?? []).length > 0) parts.push(`Warnings:\n${bullets(result.data?.warnings ?? [])}`);
    return { ok: true, text: parts.join("\n\n") };
  }

  *#replace(find: string, replacement: string, glob: string): Work<StepReport> {
    const found = yield* filesWithText(find, glob);
    if (found.failure !== undefined) return refused(`I could not search ${glob}`, found.failure);
    // What was drafted is not on disk, so the search cannot know it.
    const drafted = isGlob(glob) ? [...this.#files.keys()].filter((path) => globMatches(glob, path)) : [];
    const paths = [...new Set([...found.paths, ...drafted])];
    const outcomes = yield* this.#read(paths);
    const unusable = paths.flatMap((path, index) => notUsable(path, outcomes[index]) ?? []);
    if (unusable.length > 0)
      return {
        ok: false,
        text: `I drafted no replacement, because not every file can be read whole:\n${bullets(unusable)}`,
      };
    let changed = 0;
    for (const [index, path] of paths.entries()) {
      const text = outcomes[index]?.file?.text ?? "";
      const count = countOccurrences(text, find);
      if (count === 0) continue;
      changed += 1;
      this.#set(
        path,
        text,
        text.replaceAll(find, () => replacement),
      );
      this.#notes.push(`replace ${quote(find)} with ${quote(replacement)} in ${path}, ${counted(count, "occurrence")}`);
    }
    const notes = found.notes.length > 0 ? `The search said: ${found.notes.join(" ")}` : "";
    return { ok: true, text: changed === 0 ? nothingFound(find, glob) : notes };
  }

  *#create(path: string, content: string): Work<StepReport> {
    if (yield* this.#isThere(path)) return { ok: false, text: `${path} exists already, so I propose nothing for it.` };
    this.#set(path, undefined, content);
    this.#notes.push(`create ${path}`);
    return { ok: true, text: "" };
  }

  *#rewrite(path: string, change: (text: string) => string | undefined, note: string): Work<StepReport> {
    const [outcome] = yield* this.#read([path]);
    const after = change(outcome?.file?.text ?? "");
    const problem = notUsable(path, outcome, { rewritten: after !== undefined });
    if (problem !== undefined) return { ok: false, text: `I could not draft the change of ${problem}` };
    this.#set(path, outcome?.file?.text, after);
    this.#notes.push(note);
    return { ok: true, text: "" };
  }

  *#move(from: string, to: string): Work<StepReport> {
    const [source] = yield* this.#read([from]);
    const problem = notUsable(from, source);
    if (problem !== undefined) return { ok: false, text: `I could not draft the move of ${problem}` };
    if (yield* this.#isThere(to)) return { ok: false, text: `${to} exists already, so I propose no move.` };
    const text = source?.file?.text ?? "";
    this.#set(to, undefined, text);
    this.#set(from, text, undefined);
    this.#notes.push(`move ${from} to ${to}`);
    return { ok: true, text: "" };
  }

  *#isThere(path: string): Work<boolean> {
    const drafted = this.#files.get(path);
    return drafted === undefined ? yield* isThere(path) : drafted.after !== undefined;
  }

  /** From the draft where it has the file, else by tool. */
  *#read(paths: readonly string[]): Work<readonly ReadOutcome[]> {
    const onDisk = paths.filter((path) => !this.#files.has(path));
    const read = yield* readFiles(onDisk, `Reading ${onDisk.length === 1 ? onDisk[0] : `${onDisk.length} files`}.`);
    return paths.map((path): ReadOutcome => {
      const drafted = this.#files.get(path);
      if (drafted?.after !== undefined) return { file: { text: drafted.after, exact: true } };
      if (drafted !== undefined) return { failure: goneByDraft };
      return read[onDisk.indexOf(path)] ?? { failure: goneByDraft };
    });
  }

  #set(path: string, before: string | undefined, after: string | undefined): void {
    const drafted = this.#files.get(path);
    if (drafted === undefined) this.#files.set(path, { before, after });
    else drafted.after = after;
  }
}

const goneByDraft = {
  code: "not_found",
  message: "The file is gone after an earlier step of this request.",
  hint: undefined,
  outdated: false,
};

function notUsable(path: string, outcome: ReadOutcome | undefined, { rewritten = true } = {}): string | undefined {
  if (outcome === undefined) return `${path}: it was not read`;
  if (outcome.failure !== undefined) return `${path}: ${describeFailure(outcome.failure)}`;
  if (rewritten && !outcome.file.exact)
    return `${path}: what I could read of it is shortened or masked, so I must not write it back`;
  return undefined;
}
