import { ToolFailure } from "@gennai/governance/tool-error";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import type { ClientControlFile } from "@gennai/protocol/model/session/client-workspace";

/** Larger files are listed with their size as a problem, which is reported by the code that needs them. */
const maxBytes = 1024 * 1024;
const maxFiles = 2_000;
const maxDepth = 8;

const nothing = new Uint8Array();

/**
 * The existing files that control an agent, sorted by path. One that leads out of the workspace or cannot be read is listed with
 * the reason: a configured rule must never be ignored. Rejects with `ToolFailure` `too_large` for more than 2,000.
 */
export async function readControlFiles(
  workspace: Workspace,
  wanted: { readonly files: readonly string[]; readonly directories: readonly string[] },
): Promise<readonly ClientControlFile[]> {
  const found = new Map<string, ClientControlFile>();
  for (const path of wanted.files) await add(workspace, path, found);
  for (const path of wanted.directories) await addBelow(workspace, path, found, 0);
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function add(workspace: Workspace, path: string, found: Map<string, ClientControlFile>): Promise<void> {
  const file = await read(workspace, path);
  if (file === undefined || found.has(path)) return;
  found.set(path, { path, ...file });
  if (found.size > maxFiles) {
    throw new ToolFailure("too_large", `There are more than ${maxFiles} files that steer the agent.`, {
      hint: "Take files out of .gennai that are no rules, scenarios or skills.",
    });
  }
}

async function addBelow(
  workspace: Workspace,
  path: string,
  found: Map<string, ClientControlFile>,
  depth: number,
): Promise<void> {
  const directory = await workspace.resolve(path);
  if (!directory.inside || (await workspace.stat(directory))?.kind !== "directory") return;
  if (depth > maxDepth)
    throw new ToolFailure("too_large", `${path} is nested too deeply for a file that steers the agent.`);
  const { entries, truncated } = await workspace.list(directory, { ignore: [], limit: maxFiles });
  if (truncated) throw new ToolFailure("too_large", `${path} has more than ${maxFiles} entries.`);
  for (const { name } of entries) {
    const below = `${path}/${name}`;
    const real = await workspace.resolve(below).catch(() => undefined);
    const isDirectory = real?.inside === true && (await workspace.stat(real))?.kind === "directory";
    if (isDirectory) await addBelow(workspace, below, found, depth + 1);
    else await add(workspace, below, found);
  }
}

async function read(workspace: Workspace, path: string): Promise<Omit<ClientControlFile, "path"> | undefined> {
  try {
    const real = await workspace.resolve(path);
    if (!real.inside) return { bytes: nothing, problem: "leads out of the workspace; copy the file in" };
    const stat = await workspace.stat(real);
    if (stat === undefined) return undefined;
    if (stat.kind !== "file") return { bytes: nothing, problem: "is no regular file" };
    return { bytes: (await workspace.read(real, { maxBytes })).bytes, problem: "" };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return error.code === "not_found" ? undefined : { bytes: nothing, problem: error.message };
  }
}
