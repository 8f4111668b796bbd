import { foldPath } from "../../command/words/fold-name.ts";
import { absolutePath, expandPath } from "../../command/words/resolve-path.ts";

/** Base directories of rules: for `~` and relative paths. All absolute, the workspace's root real. */
export interface RuleRoots {
  readonly root: string;
  /** The user's home, as it is named and as it really is. The first one is what `~` in a command means. */
  readonly homes: readonly string[];
}

/** A path as folded components. `relative` is set if it is in the workspace; empty for the root. */
export interface PathForm {
  readonly absolute: readonly string[];
  readonly relative: readonly string[] | undefined;
}

export function pathForm(absolute: string, root: string): PathForm {
  const parts = foldPath(absolute);
  const rootParts = foldPath(root);
  const inside = rootParts.every((part, index) => parts[index] === part);
  return { absolute: parts, relative: inside ? parts.slice(rootParts.length) : undefined };
}

/** A path as the model wrote it, resolved without following links: `~`, `$HOME` and relative to the workspace. */
export function rawForm(raw: string, place: RuleRoots): PathForm {
  const home = place.homes[0] ?? "/";
  const written = raw.replace(/^(?:\$HOME|\$\{HOME\}|%USERPROFILE%)(?=[/\\]|$)/i, "~").replaceAll("\\", "/");
  const path = written.startsWith("~") ? expandPath(written, place.root, home) : absolutePath(written, place.root);
  return pathForm(path, place.root);
}
