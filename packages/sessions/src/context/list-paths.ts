import { isZeroAccess, zeroAccessGlobs } from "@gennai/governance/policies/files/secrets";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { ServiceError } from "@gennai/machine/service-error";
import type { Session } from "../session/session.ts";

const usualLimit = 50;
const maxLimit = 500;
const maxPrefix = 4096;
/** Maximum files considered. */
const maxCandidates = 50_000;

/**
 * Files and directories (with a trailing slash) that match the typed prefix, best first: entries of the typed directory, then
 * files anywhere whose name begins with it. Excludes files that git ignores or that the agent may not read.
 */
export async function listPaths(
  session: Pick<Session, "workspace" | "services">,
  prefix: string,
  options: { readonly limit: number; readonly signal: AbortSignal },
): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }> {
  if (prefix.length > maxPrefix)
    throw new ServiceError("invalid_argument", `prefix has at most ${maxPrefix} characters.`);
  if (options.limit < 0 || options.limit > maxLimit) {
    throw new ServiceError("invalid_argument", `limit is between 0 and ${maxLimit}.`);
  }
  const { workspace } = session;
  const governance = await session.services.governanceOf(workspace);
  const config = await loadProjectConfig(workspace.controlRoot);
  const { searchExcludes } = await governance.rules.current();
  const found = await workspace.glob("**", await workspace.resolve("."), {
    limit: maxCandidates,
    exclude: [...zeroAccessGlobs, ...config.denyPaths, ...searchExcludes],
    signal: options.signal,
  });
  const files = found.paths.filter((path) => !isZeroAccess(path));
  const matching = matchingPaths(files, prefix.replace(/^(?:\.\/)+/, ""));
  const limit = options.limit === 0 ? usualLimit : options.limit;
  return { paths: matching.slice(0, limit), truncated: matching.length > limit || found.truncated };
}

/** @param files newest first, relative to the workspace */
function matchingPaths(files: readonly string[], typed: string): readonly string[] {
  const prefix = typed.toLowerCase();
  const directory = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const here = new Set<string>();
  const elsewhere = new Set<string>();
  for (const file of files) {
    const folded = file.toLowerCase();
    if (folded.startsWith(prefix)) {
      const slash = file.indexOf("/", directory.length);
      here.add(slash < 0 ? file : file.slice(0, slash + 1));
    } else if (directory === "" && prefix !== "" && folded.slice(folded.lastIndexOf("/") + 1).startsWith(prefix)) {
      elsewhere.add(file);
    }
  }
  const directoriesFirst = [...here].sort(
    (a, b) => Number(b.endsWith("/")) - Number(a.endsWith("/")) || (a < b ? -1 : 1),
  );
  return [...directoriesFirst, ...elsewhere];
}
