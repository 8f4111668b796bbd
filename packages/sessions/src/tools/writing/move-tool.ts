import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { decodeText } from "@gennai/machine/workspace/files/text-file";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { currentContent, type FileChangePorts, notFound, PlannedChanges } from "./change/file-change.ts";
import { staleFileDetail } from "./change/stale-file-detail.ts";

const parameters = z.strictObject({
  from: z.string().min(1, "from must not be empty."),
  to: z.string().min(1, "to must not be empty."),
});

/** Moves one file: creates the new one and deletes the old one, atomically. */
export function moveTool(ports: FileChangePorts): BuiltInTool<z.infer<typeof parameters>> {
  const plans = new PlannedChanges(ports);
  return {
    name: "Move",
    description: "Moves or renames one file of the workspace. Nothing may exist at the new path.",
    parameters,
    access: "change",

    async analyse(args, { signal }) {
      const [from, to] = [await ports.workspace.resolve(args.from), await ports.workspace.resolve(args.to)];
      const statement = `Move ${pathName(from)} to ${pathName(to)}`;
      const outside = [from, to].find((path) => !path.inside);
      if (outside !== undefined) {
        const effects = [plans.planOutside("delete", from, outside), plans.planOutside("create", to, outside)];
        return { statement, effects };
      }
      if (from.absolute === to.absolute)
        throw new ToolFailure("no_change", `${pathName(from)} would stay where it is.`);
      const before = await currentContent(ports.workspace, from, signal);
      const stat = await ports.workspace.stat(from);
      if (before === undefined || stat === undefined) throw notFound(from, "Look with LS or Glob what is there.");
      if ((await ports.workspace.stat(to)) !== undefined) {
        throw new ToolFailure("already_exists", `${pathName(to)} exists already; nothing was moved.`, {
          hint: "Choose another path, or delete what is there first.",
        });
      }
      const text = decodeText(before.bytes)?.text;
      const created = plans.plan(to, undefined, {
        type: "moved",
        bytes: before.bytes,
        content: text,
        mode: stat.mode & 0o777,
      });
      const deleted = plans.plan(from, before, { type: "gone" });
      return { statement, effects: [created, deleted] };
    },

    execute: plans.execute,
    verify: plans.verify,

    async explainRefusal(_args, analysis, { code }, { signal }) {
      const write = analysis.effects.find((effect) => effect.type === "write" && effect.operation === "delete");
      if (code !== "stale_file" || write?.type !== "write") return undefined;
      return staleFileDetail(ports, write, () => ({ type: "gone" }), signal);
    },
  };
}
