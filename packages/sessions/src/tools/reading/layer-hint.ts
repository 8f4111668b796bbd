import { relative } from "node:path";
import type { WorkspacePath } from "@gennai/governance/effect";
import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Staging } from "../commands/bash-tool.ts";
import { pathName } from "../path-name.ts";
import { waysToKeep } from "../ways-to-keep.ts";

/**
 * What `read` gives of a file; it also reports if commands of the session see another file, or see one where there is none:
 * ignored files stay in the session's layer. It does not give that content: file tools read the user's file, which may be edited.
 */
export async function withLayerHint(
  path: WorkspacePath,
  { staging, root }: { readonly staging: Pick<Staging, "stages" | "session"> | undefined; readonly root: string },
  read: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (staging?.session === undefined) return read();
  const { stages, session } = staging;
  const isLayered = async (): Promise<boolean> => {
    const layer = await stages.layer(root, session);
    return layer?.entryAt(relative(layer.root.path, path.absolute)) !== undefined;
  };
  const name = pathName(path);
  const get = `read that with Bash (cat ${name}); the user gets it by: ${waysToKeep(name)}`;
  try {
    const outcome = await read();
    if (!(await isLayered())) return outcome;
    return { ...outcome, output: `${outcome.output}\n[commands of this session see another ${name}: ${get}]` };
  } catch (error) {
    if (!(error instanceof ToolFailure) || !(await isLayered())) throw error;
    const { code, failureClass, retryable } = error;
    throw new ToolFailure(code, `${error.message} A command of this session made it, and git ignores it.`, {
      failureClass,
      retryable,
      hint: `Only commands of this session see it: ${get}`,
      cause: error,
    });
  }
}
