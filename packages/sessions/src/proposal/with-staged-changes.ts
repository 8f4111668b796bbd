import type { Analysis, Tool, ToolOutcome } from "@gennai/governance/tool";
import { withNotes } from "../tools/command-output.ts";
import { isToolFact } from "../tools/tool-fact.ts";
import type { ProposalReader } from "./proposal-reader.ts";
import type { SessionProposal } from "./session-proposal.ts";

/**
 * The same tool over a staged tree: it sees the tree as it is by now, and what it changes counts as no change of the workspace,
 * in the session's log and ledger: that is said when a person keeps it.
 * @param takesNotes false for a conversation that the model of the session does not see
 */
export function withStagedChanges(
  tool: Tool,
  proposal: Pick<SessionProposal, "tree" | "renew" | "takeNotes">,
  { reader, takesNotes }: { readonly reader: ProposalReader; readonly takesNotes: boolean },
): Tool {
  const whole = new WeakMap<ToolOutcome, ToolOutcome>();
  return {
    ...tool,
    async analyse(args, context) {
      await proposal.renew();
      return tool.analyse(args, context);
    },
    async execute(args, analysis, context) {
      const written = writtenPaths(analysis);
      const settled = reader.settledBy(written);
      const outcome = await tool.execute(args, analysis, context);
      const { changes = [], facts = [], ...rest } = outcome;
      for (const [path, conflict] of settled) {
        if (changes.some((change) => change.path === path)) proposal.tree.settle(path, conflict);
      }
      const seen = (outcome.observed ?? []).map(({ path }) => path).filter((path) => !written.includes(path));
      const shown = reader.show(seen);
      const notes = takesNotes ? proposal.takeNotes() : [];
      const noted = notes.length === 0 ? outcome.output : withNotes(outcome.output, notes);
      const staged: ToolOutcome = {
        ...rest,
        facts: facts.filter((fact) => !isToolFact(fact) || fact.type !== "change-set"),
        // In front: what is too long is cut behind.
        output: [...shown, noted].join("\n"),
      };
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

/** By a file tool: what a command does to a file was not worked out on what anybody read. */
function writtenPaths({ effects }: Analysis): readonly string[] {
  if (effects.some(({ type }) => type === "exec")) return [];
  return effects.flatMap((effect) => (effect.type === "write" && effect.path.inside ? [effect.path.relative] : []));
}
