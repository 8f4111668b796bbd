import { randomUUID } from "node:crypto";
import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { maxFileBytes } from "../text-limits.ts";
import type { ToolFact } from "../tool-fact.ts";
import { editNames, fittedEdits } from "./change/edit-text.ts";
import { fitNote } from "./change/fit-note.ts";
import { textEdits } from "./edit-tools.ts";
import { editedText, type FileProposal, type ProposedFilePorts, proposedFile } from "./proposed-file.ts";

/** Files handled in parallel: enough to hide an editor's latency, few enough not to overload it. */
const atOnce = 8;

const change = z
  .strictObject({
    path: z.string().min(1, "path must not be empty.").describe("Relative to the workspace."),
    operation: z.enum(["create", "update", "delete"]),
    new_content: z
      .string()
      .max(maxFileBytes, "new_content is larger than 20 MiB.")
      .optional()
      .describe("The whole text after the change; for create, and for update without edits."),
    edits: textEdits.optional().describe("For update, in place of new_content: edits as MultiEdit takes them."),
  })
  .refine(({ operation, new_content }) => operation !== "create" || new_content !== undefined, {
    error: "create needs new_content, the whole text of the file.",
    path: ["new_content"],
  })
  .refine(({ operation, new_content, edits }) => operation !== "update" || (new_content ?? edits) !== undefined, {
    error: "update needs edits, or new_content, the whole text of the file.",
    path: ["new_content"],
  })
  .refine(({ operation, new_content }) => operation !== "delete" || new_content === undefined, {
    error: "delete takes no new_content.",
    path: ["new_content"],
  })
  .refine(
    ({ operation, new_content, edits }) => edits === undefined || (operation === "update" && new_content === undefined),
    {
      error: "edits are for update, without new_content.",
      path: ["edits"],
    },
  );

export const proposeParameters = z.strictObject({
  changes: z
    .array(change)
    .min(1, "changes must hold at least one change.")
    .max(500, "changes holds more than 500 changes.")
    .describe("Every file that changes, each once."),
});

export type ProposeArguments = z.infer<typeof proposeParameters>;
export type ProposeChange = ProposeArguments["changes"][number];

/** Names that models use for the parts of a change. */
export const proposeNames = {
  file_path: "path",
  filePath: "path",
  file: "path",
  content: "new_content",
  contents: "new_content",
  newContent: "new_content",
  ...editNames,
} as const;

interface WantedFile {
  readonly proposal: Omit<FileProposal, "path" | "operation">;
  /** SHA-256 of the text that the edits were applied to. */
  readonly editedSha256?: string;
  readonly note: string;
}

/** Shows changes to the user; nothing is written. The result is JSON, with the number of hunks of each file. */
export function proposeChangesTool(ports: ProposedFilePorts): BuiltInTool<ProposeArguments> {
  const files = new WeakMap<Effect, WantedFile | ToolFailure>();
  let turnWithProposal: string | undefined;

  const refuseSecond = (turnId: string) => {
    if (turnWithProposal !== turnId) return;
    throw new ToolFailure("already_proposed", "Changes were proposed in this turn already.", {
      hint: "Summarise what was proposed and end the turn.",
    });
  };

  return {
    name: "ProposeChanges",
    description:
      "Shows the user a complete set of changes for review; nothing is written. Call it once, with all files: the whole text " +
      "of each that is created, edits or the whole text of each that is updated, and those to delete. Then summarise and end the turn.",
    parameters: proposeParameters,
    otherNames: proposeNames,
    access: "read",
    // The call before may have read the file that this one changes.
    alone: true,

    async analyse(args, { turnId, signal }) {
      refuseSecond(turnId);
      refuseTooMuch(args);
      const effects: Effect[] = [];
      const seen = new Map<string, string>();
      const changes: ProposeChange[] = [];
      for (const wanted of args.changes) {
        const path = await ports.workspace.resolve(wanted.path);
        refuseDuplicate(seen, path);
        const { edits } = wanted;
        const edited = edits === undefined ? undefined : await editedText(ports, path, edits, signal);
        const content = edited instanceof ToolFailure ? undefined : (edited?.content ?? wanted.new_content);
        const effect: Effect = {
          type: "propose",
          path,
          operation: wanted.operation,
          ...(content === undefined ? {} : { content }),
        };
        const own = { proposal: { newContent: content ?? "" }, note: "" };
        if (edited === undefined || edited instanceof ToolFailure) files.set(effect, edited ?? own);
        else files.set(effect, { ...own, editedSha256: edited.sha256, note: fitNote(edited.fitted) });
        effects.push(effect);
        const fitted = edited === undefined || edited instanceof ToolFailure || !edited.seen ? [] : edited.fitted;
        changes.push(
          edits === undefined || fitted.length === 0 ? wanted : { ...wanted, edits: fittedEdits(edits, fitted) },
        );
      }
      const fits = changes.some((each, index) => each !== args.changes[index]) ? { args: { ...args, changes } } : {};
      const names = effects.flatMap((effect) => (effect.type === "propose" ? [pathName(effect.path)] : []));
      return {
        statement: `Propose changes to ${names.slice(0, 3).join(", ")}${moreThan(names.length, 3)}`,
        effects,
        ...fits,
      };
    },

    async execute(_args, analysis, { callId, turnId, signal }) {
      refuseSecond(turnId);
      const previous = turnWithProposal;
      turnWithProposal = turnId;
      try {
        const shown = await inOrder(analysis.effects, async (effect, index) => {
          const wanted = files.get(effect);
          if (effect.type !== "propose" || wanted === undefined) {
            throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
          }
          if (wanted instanceof ToolFailure) throw wanted;
          signal.throwIfAborted();
          const { path, operation } = effect;
          const change = await proposedFile(ports, { ...wanted.proposal, path, operation }, `c${index + 1}`, signal);
          if (wanted.editedSha256 !== undefined && change.baseSha256 !== wanted.editedSha256) {
            throw new ToolFailure("stale_file", `${pathName(path)} changed while its edits were being proposed.`, {
              hint: "Read it again, then propose again.",
            });
          }
          return { change, note: wanted.note };
        });
        const proposal: Proposal = {
          proposalId: randomUUID(),
          toolCallId: callId,
          changes: shown.map(({ change }) => change),
          hasConflicts: shown.some(({ change }) => change.conflict),
          warnings: [],
        };
        const fact: ToolFact = { type: "proposal", proposal };
        return { output: proposalJson(shown), facts: [fact] };
      } catch (error) {
        turnWithProposal = previous;
        throw error;
      }
    },
  };
}

/** Without what the model sent itself: contents and diffs would fill the conversation twice. */
function proposalJson(files: readonly { readonly change: ProposedChange; readonly note: string }[]): string {
  return JSON.stringify({
    changes: files.map(({ change, note }) => ({
      path: change.path,
      operation: change.operation,
      hunks: change.hunks.length,
      conflict: change.conflict,
      ...(change.warning === "" ? {} : { warning: change.warning }),
      ...(note === "" ? {} : { note }),
    })),
    has_conflicts: files.some(({ change }) => change.conflict),
    warnings: [],
  });
}

export function refuseTooMuch(args: ProposeArguments): void {
  const size = args.changes.reduce(
    (sum, { new_content, edits = [] }) =>
      edits.reduce((inEdits, { new_string }) => inEdits + new_string.length, sum + (new_content?.length ?? 0)),
    0,
  );
  if (size <= maxFileBytes) return;
  throw new ToolFailure("too_large", "The changes together hold more than 20 MiB of text.", {
    hint: "Propose the most important ones; the rest can follow in another turn.",
  });
}

/** One file under two names counts as one: through links (paths are already real), letter case, Unicode form. */
export function refuseDuplicate(seen: Map<string, string>, path: WorkspacePath): void {
  const key = path.absolute.normalize("NFC").toLowerCase();
  const other = seen.get(key);
  if (other !== undefined) {
    throw new ToolFailure(
      "duplicate_path",
      `${JSON.stringify(other)} and ${JSON.stringify(path.raw)} name the same file.`,
      {
        hint: "Put everything that changes in a file into one change.",
      },
    );
  }
  seen.set(key, path.raw);
}

function moreThan(count: number, shown: number): string {
  return count > shown ? ` and ${count - shown} more` : "";
}

/** Results in the order of the items, with limited parallelism; the first failure stops it. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const part = items.slice(start, start + atOnce);
    results.push(...(await Promise.all(part.map((item, offset) => work(item, start + offset)))));
  }
  return results;
}
