import type { BuiltInTool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import { isShown, isShownPath, problemLine } from "../../bridge/shown-problems.ts";
import { requireEditor } from "../lost-editor.ts";
import { pathName } from "../path-name.ts";

const maxShown = 200;

const symbolParameters = z.strictObject({
  query: z.string().max(500).describe("Part of a name; may be empty with a path."),
  path: z.string().min(1).optional().describe("Only symbols of this file."),
});

/** Where something is declared, according to the attached editor. */
export function symbolsTool(ports: {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
}): BuiltInTool<z.infer<typeof symbolParameters>> {
  const { workspace, editor } = ports;
  return {
    name: "Symbols",
    description:
      "Finds where functions, classes and other names are declared, by the language features of the user's editor. " +
      "Gives `path:line kind name`, a line each.",
    parameters: symbolParameters,
    access: "read",

    async analyse(args) {
      requireEditor(editor, "find-symbols", "find symbols", "Use Grep.");
      if (args.path === undefined) {
        const path = await workspace.resolve(".");
        return { statement: `Find symbols named ${JSON.stringify(args.query)}`, effects: [{ type: "list", path }] };
      }
      const path = await workspace.resolve(args.path);
      return { statement: `List the symbols of ${pathName(path)}`, effects: [{ type: "read", path }] };
    },

    async execute(args, analysis, { signal }) {
      const [effect] = analysis.effects;
      const path = effect?.type === "read" ? effect.path.relative : "";
      const { symbols, truncated } = await editor.findSymbols({ query: args.query, path }, { signal });
      const shown = symbols.filter(({ path: file }) => isShownPath(file));
      const lines = shown.slice(0, maxShown).map(({ path: file, line, kind, name, container }) => {
        const where = container === "" ? "" : ` in ${plain(container)}`;
        return `${file}:${line} ${plain(kind)} ${plain(name)}${where}`;
      });
      if (lines.length === 0) lines.push("[no symbols found]");
      const cut = truncated || shown.length > maxShown;
      if (cut) lines.push("[there are more; narrow the query]");
      return { output: lines.join("\n"), truncated: cut };
    },
  };
}

function plain(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, 200);
}

const problemParameters = z.strictObject({
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
}): BuiltInTool<z.infer<typeof problemParameters>> {
  const { workspace, editor } = ports;
  return {
    name: "Problems",
    description: "Lists the problems that the user's editor reports (errors and warnings), a line each.",
    parameters: problemParameters,
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
