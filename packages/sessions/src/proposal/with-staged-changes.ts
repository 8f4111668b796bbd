import type { Analysis, Tool, ToolOutcome } from "@gennai/governance/tool";
import { withNotes } from "../tools/command-output.ts";
import { isToolFact } from "../tools/tool-fact.ts";
import type { ProposalReader } from "./proposal-reader.ts";
import type { SessionProposal } from "./session-proposal.ts";

/**
 * The same tool over a staged tree: it sees the tree's current state, and its changes do not count as changes of the workspace
 * in log and ledger; they are recorded when a user keeps them.
 * @param takesNotes false for a conversation that the session's model does not see
 */
export function withStagedChanges(
  tool: Tool,
  proposal: Pick<SessionProposal, "tree" | "renew" | "takeNotes">,
  { reader, takesNotes }: { readonly reader: ProposalReader; readonly takesNotes: boolean },
): Tool {
  return unrecorded({
    ...tool,
    async analyse(args, context) {
      await proposal.renew();
      return tool.analyse(args, context);
    },
    async execute(args, analysis, context) {
      const written = writtenPaths(analysis);
      const settled = reader.settledBy(written);
      const outcome = await tool.execute(args, analysis, context);
      const { changes = [] } = outcome;
      for (const [path, conflict] of settled) {
        if (changes.some((change) => change.path === path)) proposal.tree.settle(path, conflict);
      }
      const seen = (outcome.observed ?? []).map(({ path }) => path).filter((path) => !written.includes(path));
      const shown = reader.show(seen);
      const notes = takesNotes ? proposal.takeNotes() : [];
      const noted = notes.length === 0 ? outcome.output : withNotes(outcome.output, notes);
      // Before the output, because long results are cut at the end.
      return { ...outcome, output: [...shown, noted].join("\n") };
    },
  });
}

/**
 * The same tool; log and ledger have none of the changes that it makes while they are not the workspace's.
 * @param isStaged whether what a call changes now is not in the workspace
 */
export function unrecorded(tool: Tool, isStaged: () => boolean = () => true): Tool {
  const whole = new WeakMap<ToolOutcome, ToolOutcome>();
  return {
    ...tool,
    async execute(args, analysis, context) {
      const isApart = isStaged();
      const outcome = await tool.execute(args, analysis, context);
      if (!isApart) return outcome;
      const { changes: _, facts = [], ...rest } = outcome;
      const kept = facts.filter((fact) => !isToolFact(fact) || fact.type !== "change-set");
      const staged: ToolOutcome = { ...rest, facts: kept };
      whole.set(staged, outcome);
      return staged;
    },
    ...(tool.verify === undefined
      ? {}
      : {
          verify: async (args, outcome, context) =>
            (await tool.verify?.(args, whole.get(outcome) ?? outcome, context)) ?? {
              state: "unverified",
              evidence: "There is nothing to look at.",
            },
        }),
  };
}

/** Paths written by a file tool: a command's changes are not based on what the model read. */
function writtenPaths({ effects }: Analysis): readonly string[] {
  if (effects.some(({ type }) => type === "exec")) return [];
  return effects.flatMap((effect) => (effect.type === "write" && effect.path.inside ? [effect.path.relative] : []));
}
