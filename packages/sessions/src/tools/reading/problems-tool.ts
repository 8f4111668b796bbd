import type { BuiltInTool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import { isShown, problemLine } from "../../bridge/shown-problems.ts";
import { requireEditor } from "../lost-editor.ts";
import { pathName } from "../path-name.ts";

const maxShown = 200;

const parameters = z.strictObject({
  paths: z
    .array(z.string().min(1))
    .max(100)
    .optional()
    .describe("Files whose problems to list, relative to the workspace; all by default."),
});

/** What the attached editor's language features report: errors and warnings of compilers and linters. */
export function problemsTool(ports: {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
}): BuiltInTool<z.infer<typeof parameters>> {
  const { workspace, editor } = ports;
  return {
    name: "Problems",
    description: "Lists the problems that the user's editor reports (errors and warnings), a line each.",
    parameters,
    access: "read",

    async analyse(args) {
      requireEditor(editor, "diagnostics", "list problems", "Run the project's own checks with Bash.");
      const paths = await Promise.all((args.paths ?? []).map((path) => workspace.resolve(path)));
      if (paths.length === 0) {
        const path = await workspace.resolve(".");
        return { statement: "List the editor's problems", effects: [{ type: "list", path }] };
      }
      return {
        statement: `List the editor's problems in ${paths.map(pathName).join(", ")}`,
        effects: paths.map((path) => ({ type: "read", path })),
      };
    },

    async execute(args, analysis, { signal }) {
      const wanted = analysis.effects.flatMap((effect) => (effect.type === "read" ? [effect.path.relative] : []));
      const found = (
        await editor.listDiagnostics({ paths: args.paths === undefined ? [] : wanted }, { signal })
      ).filter(isShown);
      const lines = found.slice(0, maxShown).map(problemLine);
      if (lines.length === 0) lines.push("[no problems]");
      if (found.length > maxShown) lines.push(`[${found.length - maxShown} more]`);
      return { output: lines.join("\n"), truncated: found.length > maxShown };
    },
  };
}
