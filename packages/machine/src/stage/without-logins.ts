import { basename } from "node:path";

/** Settings that a command needs, of which single lines may hold a login. */
export function mayHoldLogin(name: string, inGitDirectory: boolean): boolean {
  return registrySettings.has(name) || name === ".gitconfig" || (inGitDirectory && gitSettings.has(name));
}

const gitSettings: ReadonlySet<string> = new Set(["config", "config.worktree"]);
const registrySettings: ReadonlySet<string> = new Set([".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "bunfig.toml"]);

/** The file without the lines that hold a login, and without users in addresses; undefined when there is none in it. */
export function withoutLogins(path: string, bytes: Uint8Array): Uint8Array | undefined {
  // One byte, one character: what is no text comes out as it went in.
  const text = Buffer.from(bytes).toString("latin1");
  const isGits = !registrySettings.has(basename(path));
  const kept = text
    .split("\n")
    .filter((line) => !(isGits ? gitLogin : registryLogin).test(line))
    .map((line) => line.replace(userInAddress, "://"))
    .join("\n");
  return kept === text ? undefined : Buffer.from(kept, "latin1");
}

const gitLogin = /^\s*(?:extraheader|password|token|pass|oauth\w*|cookie\w*)\s*=/i;
const registryLogin = /_auth|_password|token|passwd|password|secret|username\s*[=:]/i;
const userInAddress = /:\/\/[^/\s@"']+@/g;
