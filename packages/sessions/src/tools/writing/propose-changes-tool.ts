import { randomUUID } from "node:crypto";
import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Proposal } from "@gennai/protocol/model/proposal";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { maxFileBytes } from "../text-limits.ts";
import type { ToolFact } from "../tool-fact.ts";
import { type ProposedFile, type ProposedFilePorts, proposedFile } from "./proposed-file.ts";

/** Files looked at together: enough to hide an editor's round trip, few enough not to flood it. */
const atOnce = 8;

const change = z
  .strictObject({
    path: z.string().min(1, "path must not be empty.").describe("Relative to the workspace."),
    operation: z.enum(["create", "update", "delete"]),
    new_content: z
      .string()
      .max(maxFileBytes, "new_content is larger than 20 MiB.")
      .optional()
      .describe("The whole text after the change; for create and update."),
  })
  .refine(({ operation, new_content }) => operation === "delete" || new_content !== undefined, {
    error: "create and update need new_content, the whole text of the file.",
    path: ["new_content"],
  })
  .refine(({ operation, new_content }) => operation !== "delete" || new_content === undefined, {
    error: "delete takes no new_content.",
    path: ["new_content"],
  });

const parameters = z.strictObject({
  changes: z
    .array(change)
    .min(1, "changes must hold at least one change.")
    .max(500, "changes holds more than 500 changes.")
    .describe("Every file that changes, each once."),
});

type ProposeArguments = z.infer<typeof parameters>;

/** Shows changes to the user; nothing is written. The result is JSON with a unified diff for each file. */
export function proposeChangesTool(ports: ProposedFilePorts): Tool<ProposeArguments> {
  const paths = new WeakMap<Effect, ProposeArguments["changes"][number]>();
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
      "Shows the user a complete set of changes for review; nothing is written. Call it once, with the final text of every " +
      "file that is created or updated, and the files to delete. Then summarise and end the turn.",
    parameters,
    access: "read",
    // What it proposes on may have been read by the call before.
    alone: true,

    async analyse(args, { turnId }) {
      refuseSecond(turnId);
      refuseTooMuch(args);
      const effects: Effect[] = [];
      const seen = new Map<string, string>();
      for (const wanted of args.changes) {
        const path = await ports.workspace.resolve(wanted.path);
        refuseDuplicate(seen, path);
        const content = wanted.new_content;
        const effect: Effect = {
          type: "propose",
          path,
          operation: wanted.operation,
          ...(content === undefined ? {} : { content }),
        };
        paths.set(effect, wanted);
        effects.push(effect);
      }
      const names = effects.flatMap((effect) => (effect.type === "propose" ? [pathName(effect.path)] : []));
      return { statement: `Propose changes to ${names.slice(0, 3).join(", ")}${moreThan(names.length, 3)}`, effects };
    },

    async execute(_args, analysis, { callId, turnId, signal }) {
      refuseSecond(turnId);
      const previous = turnWithProposal;
      turnWithProposal = turnId;
      try {
        const files = await inOrder(analysis.effects, async (effect, index) => {
          const wanted = paths.get(effect);
          if (effect.type !== "propose" || wanted === undefined) {
            throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
          }
          signal.throwIfAborted();
          const { path, operation } = effect;
          const newContent = wanted.new_content ?? "";
          return proposedFile(ports, { path, operation, newContent }, `c${index + 1}`, signal);
        });
        const proposal: Proposal = {
          proposalId: randomUUID(),
          toolCallId: callId,
          changes: files.map((file) => file.change),
          hasConflicts: files.some((file) => file.change.conflict),
          warnings: [],
        };
        const fact: ToolFact = { type: "proposal", proposal };
        return { output: proposalJson(files), facts: [fact] };
      } catch (error) {
        turnWithProposal = previous;
        throw error;
      }
    },
  };
}

function proposalJson(files: readonly ProposedFile[]): string {
  return JSON.stringify({
    changes: files.map(({ change, newContent }) => ({
      path: change.path,
      operation: change.operation,
      unified_diff: change.unifiedDiff,
      new_content: newContent,
      conflict: change.conflict,
      ...(change.warning === "" ? {} : { warning: change.warning }),
    })),
    has_conflicts: files.some(({ change }) => change.conflict),
    warnings: [],
  });
}

function refuseTooMuch(args: ProposeArguments): void {
  const size = args.changes.reduce((sum, { new_content }) => sum + (new_content?.length ?? 0), 0);
  if (size <= maxFileBytes) return;
  throw new ToolFailure("too_large", "The changes together hold more than 20 MiB of text.", {
    hint: "Propose the most important ones; the rest can follow in another turn.",
  });
}

/** One file under two names is one file: through links (paths are real already), by letter case, by Unicode form. */
function refuseDuplicate(seen: Map<string, string>, path: WorkspacePath): void {
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

/** Results in the order of the items, some at a time; the first failure ends it. */
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
