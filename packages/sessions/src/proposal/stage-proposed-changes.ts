import type { FileWrite, WorkspacePath } from "@gennai/governance/effect";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { pathName } from "../tools/path-name.ts";
import { editText, fittedEdits } from "../tools/writing/change/edit-text.ts";
import {
  applyPlanned,
  currentContent,
  type FileChangePorts,
  type IntendedFile,
  notFound,
  PlannedChanges,
  verifyChanges,
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
  const plans = new PlannedChanges();
  const isSeen = (path: WorkspacePath, content: FileContent | undefined) =>
    content === undefined || ports.knownFiles.base(path.relative)?.sha256 === content.sha256;
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
          effects.push(
            outside(plans, { type: "write", operation: change.operation, path, base: undefined, current: undefined }),
          );
          continue;
        }
        const before = await currentContent(ports.workspace, path, signal);
        if (before === undefined && change.operation !== "create") throw notFound(path, "Nothing was staged.");
        try {
          const intended = intendedBy(change, before, pathName(path));
          effects.push(plans.plan(ports, path, before, intended));
          const fitted = intended.type === "text" && isSeen(path, before) ? intended.fitted : undefined;
          if (fitted !== undefined) changes[index] = { ...change, edits: fittedEdits(change.edits ?? [], fitted) };
        } catch (error) {
          if (
            error instanceof ToolFailure &&
            before !== undefined &&
            change.edits !== undefined &&
            !isSeen(path, before)
          ) {
            const base = ports.knownFiles.base(path.relative);
            effects.push(
              plans.planFailure({ type: "write", operation: "update", path, base, current: before.sha256 }, error),
            );
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

    execute: (_args, analysis, { signal }) => applyPlanned(ports, plans.of(analysis), analysis.statement, signal),

    verify: (_args, outcome, { signal }) => verifyChanges(ports.workspace, outcome, signal),
  };
}

function intendedBy(change: ProposeChange, before: FileContent | undefined, name: string): IntendedFile {
  if (change.operation === "delete") return { type: "gone" };
  if (change.edits !== undefined && before !== undefined) return editText(before, change.edits, name);
  return intendedText(change.new_content ?? "", before?.bytes);
}

/** Not examined, so that its existence is not revealed. */
function outside(plans: PlannedChanges, write: FileWrite): FileWrite {
  const failure = new ToolFailure("outside_workspace", `${pathName(write.path)} lies outside the workspace.`, {
    failureClass: "permission_denied",
  });
  return plans.planFailure(write, failure);
}
