import { fileURLToPath } from "node:url";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Workspace } from "../workspace/workspace.ts";

/** More strings than this in one call's arguments are too many to look at. */
const maxStrings = 500;
const maxPathLength = 4_096;

/**
 * What arguments of somebody else's tool name of the file system, as far as that can be seen: whole strings that are
 * written like a path, or that name something in the workspace. Throws `ToolFailure` for more than can be looked at.
 */
export async function argumentPaths(
  args: unknown,
  workspace: Pick<Workspace, "resolve" | "stat">,
  home: string,
): Promise<readonly WorkspacePath[]> {
  const strings = new Set(stringsIn(args));
  if (strings.size > maxStrings) {
    throw new ToolFailure("too_large", `The arguments hold more than ${maxStrings} strings.`, {
      hint: "Split the call.",
    });
  }
  const found: WorkspacePath[] = [];
  for (const text of strings) {
    const written = asPath(text, home);
    if (written === undefined) continue;
    const path = await workspace.resolve(written.path).catch(() => undefined);
    if (path === undefined) continue;
    if (written.certain || (path.inside && (await workspace.stat(path).catch(() => undefined)) !== undefined)) {
      found.push(path);
    }
  }
  return found;
}

function asPath(text: string, home: string): { readonly path: string; readonly certain: boolean } | undefined {
  if (text === "" || text.length > maxPathLength || /[\n\r\0]/.test(text)) return undefined;
  if (/^file:/i.test(text)) {
    try {
      return { path: fileURLToPath(text), certain: true };
    } catch {
      return { path: text.replace(/^file:(\/\/)?/i, ""), certain: true };
    }
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined;
  if (text === "~" || text.startsWith("~/")) return { path: home + text.slice(1), certain: true };
  if (text.startsWith("/") || /^\.\.?(\/|$)/.test(text) || /(^|\/)\.\.(\/|$)/.test(text))
    return { path: text, certain: true };
  if (text.includes("/") && !/\s/.test(text)) return { path: text, certain: true };
  return { path: text, certain: false };
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === "string") yield value;
  else if (depth > 32 || typeof value !== "object" || value === null) return;
  else for (const inner of Object.values(value)) yield* stringsIn(inner, depth + 1);
}
