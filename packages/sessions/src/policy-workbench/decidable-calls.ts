import type { Effect, FileWrite } from "@gennai/governance/effect";
import type { CallRunner } from "@gennai/governance/gate/decide/call-runner";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { KnownFiles } from "../session/state/known-files.ts";

/** Reasons why a change cannot be made as written; the rules' verdict does not depend on them. */
const aboutContent = new Set([
  "no_match",
  "ambiguous_match",
  "no_change",
  "past_end",
  "stale_lines",
  "not_found",
  "already_exists",
  "masked_text",
  "binary_file",
  "bad_notebook",
  "unknown_cell",
]);

/**
 * Analyses calls that never run: a change whose text does not fit the file is judged by its path.
 *
 * @param ports.staged commands of the workspace are staged
 */
export function decidableCalls(ports: {
  readonly workspace: Workspace;
  readonly knownFiles: KnownFiles;
  readonly staged: boolean;
}): Pick<CallRunner, "analyse"> {
  return {
    async analyse(tool, args, context) {
      try {
        const analysis = await tool.analyse(args, context);
        const effects = analysis.effects.map((effect) => (ports.staged ? asStaged(effect) : effect));
        return { ...analysis, effects };
      } catch (error) {
        const paths = writtenPaths(args);
        if (!(error instanceof ToolFailure) || !aboutContent.has(error.code) || paths.length === 0) throw error;
        const effects: FileWrite[] = [];
        for (const [index, raw] of paths.entries()) {
          const path = await ports.workspace.resolve(raw);
          const moves = paths.length > 1;
          const operation = tool.name === "Delete" || (moves && index === 0) ? "delete" : moves ? "create" : "update";
          const base = path.inside ? ports.knownFiles.base(path.relative) : undefined;
          effects.push({ type: "write", operation, path, base, current: base?.sha256 });
        }
        return { statement: `${tool.name} ${paths.join(" to ")}`, effects };
      }
    },
  };
}

/** Only commands of the server in the workspace are staged. */
function asStaged(effect: Effect): Effect {
  if (effect.type !== "exec" || effect.where !== "server" || !effect.cwd.inside) return effect;
  return { ...effect, staged: true };
}

function writtenPaths(args: unknown): readonly string[] {
  if (typeof args !== "object" || args === null) return [];
  const values = "from" in args && "to" in args ? [args.from, args.to] : "file_path" in args ? [args.file_path] : [];
  return values.filter((value) => typeof value === "string");
}
