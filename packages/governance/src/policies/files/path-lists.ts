import { pathsOf, type WorkspacePath } from "../../effect.ts";
import { type GlobOptions, globMatcher } from "../../glob-matcher.ts";
import { eachEffect, type Policy } from "../../policy.ts";
import { allow, deny, type Verdict } from "../../verdict.ts";
import { globIndex } from "./glob-index.ts";

/**
 * The project's own lists of what the agent may reach. A path that a deny glob matches is out; where there is an allow
 * list, so is every path that none of it matches. Directories on the way to an allowed path may be listed.
 *
 * Globs are relative to the workspace; one without a slash matches at any depth, and a match of a directory covers all below it.
 */
export function createPathListsPolicy(lists: {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
}): Policy {
  const denied = matcher(lists.deny);
  const allowed = lists.allow === undefined ? undefined : matcher(lists.allow, { noextglob: true });
  const onTheWay = lists.allow === undefined ? undefined : waysTo(lists.allow);

  const ofPath = (path: WorkspacePath, listing: boolean): Verdict => {
    if (!path.inside) return allow;
    if (denied(path.relative)) return refuse(path, "path-lists/denied", "is on the project's deny list");
    if (allowed === undefined || allowed(path.relative)) return allow;
    if (listing && (path.relative === "" || onTheWay?.(path.relative) === true)) return allow;
    return refuse(path, "path-lists/not-allowed", "is not on the project's allow list");
  };

  return eachEffect("path-lists", (effect) => {
    const listing = effect.type === "list" || effect.type === "search";
    return pathsOf(effect).map((path) => ofPath(path, listing));
  });
}

function refuse(path: WorkspacePath, rule: string, why: string): Verdict {
  return deny({
    code: "path_not_allowed",
    rule,
    reason: `Security Policy Violation: ${path.raw} ${why}.`,
    hint: "Work without this file, or ask the user to change the list.",
  });
}

function matcher(globs: readonly string[], options: GlobOptions = {}): (path: string) => boolean {
  if (globs.length === 0) return () => false;
  // A name has several Unicode forms, which some file systems treat as the same file.
  const match = globIndex(globs.map((glob) => glob.normalize("NFC")).flatMap(anyDepth), options);
  return (path) => {
    const plain = path.normalize("NFC");
    return plain !== "" && (match(plain) || match(`${plain}/`));
  };
}

function anyDepth(glob: string): readonly string[] {
  const plain = glob.replace(/^\.?\//, "").replace(/\/+$/, "");
  const rooted = plain.includes("/") || glob.startsWith("/") ? plain : `**/${plain}`;
  return [rooted, `${rooted}/**`];
}

/** Directories above what an allow glob may match. */
function waysTo(globs: readonly string[]): (path: string) => boolean {
  const ways = globs.flatMap((glob) => {
    const parts = (anyDepth(glob)[0] ?? "").split("/");
    if (parts[0] === "**") return ["**"];
    return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  });
  return ways.length === 0 ? () => false : globMatcher(ways, { nocase: true, noextglob: true });
}
