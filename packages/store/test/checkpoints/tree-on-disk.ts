import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** A file as text, with permission bits; or a link. */
export type DiskEntry = { readonly text: string; readonly mode?: number } | { readonly link: string };

export function put(root: string, path: string, entry: DiskEntry): void {
  const full = join(root, path);
  rmSync(full, { recursive: true, force: true });
  mkdirSync(dirname(full), { recursive: true });
  if ("link" in entry) symlinkSync(entry.link, full);
  else {
    writeFileSync(full, entry.text);
    chmodSync(full, entry.mode ?? 0o644);
  }
}

/** Every file and link below a directory, with content and mode; `.git` of the root itself is left out. */
export function treeOf(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (directory: string): void => {
    for (const name of readdirSync(join(root, directory))) {
      const path = directory === "" ? name : `${directory}/${name}`;
      if (path === ".git") continue;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) walk(path);
      else if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}`;
      else found[path] = `${(stat.mode & 0o777).toString(8)} ${readFileSync(join(root, path), "latin1")}`;
    }
  };
  walk("");
  return found;
}
