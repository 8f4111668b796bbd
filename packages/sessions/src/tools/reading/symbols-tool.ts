import { isZeroAccess } from "@gennai/governance/policies/files/secrets";
import type { BuiltInTool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { z } from "zod";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import { requireEditor } from "../lost-editor.ts";
import { pathName } from "../path-name.ts";

const maxShown = 200;

const parameters = z.strictObject({
  query: z.string().max(500).describe("Part of a name; may be empty with a path."),
  path: z.string().min(1).optional().describe("Only symbols of this file."),
});

/** Where something is declared, according to the attached editor. */
export function symbolsTool(ports: {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
}): BuiltInTool<z.infer<typeof parameters>> {
  const { workspace, editor } = ports;
  return {
    name: "Symbols",
    description:
      "Finds where functions, classes and other names are declared, by the language features of the user's editor. " +
      "Gives `path:line kind name`, a line each.",
    parameters,
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
      const shown = symbols.filter((symbol) => isInside(symbol.path) && !isZeroAccess(symbol.path));
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

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.split(/[\\/]/).includes("..") && !/^[a-z]+:/i.test(path);
}

function plain(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, 200);
}
