import type { FileWrite } from "@gennai/governance/effect";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { pathName } from "../tools/path-name.ts";
import { editText, fittedEdits } from "../tools/writing/change/edit-text.ts";
import {
  currentContent,
  type FileChangePorts,
  type IntendedFile,
  notFound,
  PlannedChanges,
} from "../tools/writing/change/file-change.ts";
import {
  type ProposeArguments,
  type ProposeChange,
  proposeNames,
  proposeParameters,
  refuseDuplicate,
  refuseTooMuch,
} from "../tools/writing/propose-changes-tool.ts";
import { intendedText } from "../tools/writing/write-tool.ts";

/**
 * `ProposeChanges` with a staged tree: changes are staged as by `Write` and `Delete`, with the same questions and checks, and
 * proposed with everything else at the end of the turn. So a model that knows only this tool does not create a second proposal.
 */
export function stageProposedChanges(ports: FileChangePorts): BuiltInTool<ProposeArguments> {
  const plans = new PlannedChanges(ports);
  return {
    name: "ProposeChanges",
    description:
      "Writes, edits and deletes several files at once. As with Write, they are staged, and proposed to the user with all else " +
      "when your turn ends.",
    parameters: proposeParameters,
    otherNames: proposeNames,
    access: "change",

    async analyse(args, { signal }) {
      refuseTooMuch(args);
      const effects: FileWrite[] = [];
      const seen = new Map<string, string>();
      let same: ToolFailure | undefined;
      const changes = [...args.changes];
      for (const [index, change] of args.changes.entries()) {
        const path = await ports.workspace.resolve(change.path);
        refuseDuplicate(seen, path);
        if (!path.inside) {
          effects.push(plans.planOutside(change.operation, path));
          continue;
        }
        const before = await currentContent(ports.workspace, path, signal);
        if (before === undefined && change.operation !== "create") throw notFound(path, "Nothing was staged.");
        try {
          const intended = intendedBy(change, before, pathName(path));
          effects.push(plans.plan(path, before, intended));
          const fitted = intended.type === "text" && plans.isSeen(path, before) ? intended.fitted : undefined;
          if (fitted !== undefined) changes[index] = { ...change, edits: fittedEdits(change.edits ?? [], fitted) };
        } catch (error) {
          if (
            error instanceof ToolFailure &&
            before !== undefined &&
            change.edits !== undefined &&
            !plans.isSeen(path, before)
          ) {
            effects.push(plans.planFailure("update", path, before.sha256, error));
            continue;
          }
          // Sent again with the others after one of them was corrected.
          if (!(error instanceof ToolFailure) || error.code !== "no_change") throw error;
          same = error;
        }
      }
      if (effects.length === 0 && same !== undefined) throw same;
      const names = effects.map(({ path }) => pathName(path));
      const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
      const fits = changes.some((each, index) => each !== args.changes[index]) ? { args: { ...args, changes } } : {};
      return { statement: `Stage changes to ${names.slice(0, 3).join(", ")}${more}`, effects, ...fits };
    },

    execute: plans.execute,
    verify: plans.verify,
  };
}

function intendedBy(change: ProposeChange, before: FileContent | undefined, name: string): IntendedFile {
  if (change.operation === "delete") return { type: "gone" };
  if (change.edits !== undefined && before !== undefined) return editText(before, change.edits, name);
  return intendedText(change.new_content ?? "", before?.bytes);
}
