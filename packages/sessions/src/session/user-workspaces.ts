import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { ServiceError } from "@gennai/machine/service-error";

/** The directories in which the users of one tenant may work: `<root>/<tenant>/<user>`, each made on first use. */
export class UserWorkspaces {
  readonly #root: string;
  readonly #tenant: string;

  /** @param root real path */
  constructor(root: string, tenant: string) {
    this.#root = root;
    this.#tenant = tenant;
  }

  /** The user's own directory, real path. */
  of(user: string): string {
    const directory = join(this.#root, directoryName(this.#tenant), directoryName(user));
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Also not another user's directory through a link.
    if (realpathSync(directory) !== directory) throw outside();
    return directory;
  }

  /**
   * The directory that a user asks for: their own if empty, a relative path inside it. Throws `ServiceError`
   * `permission_denied` for anything outside, existing or not.
   */
  resolve(user: string, asked: string): string {
    const own = this.of(user);
    if (asked.includes("\0")) throw outside();
    const directory = resolve(own, asked);
    this.assertOwn(user, directory);
    let real: string;
    try {
      real = realpathSync(directory);
    } catch {
      throw outside();
    }
    this.assertOwn(user, real);
    return real;
  }

  /** Throws like `resolve`. @param root real path of a workspace that was opened */
  assertOwn(user: string, root: string): void {
    const path = relative(this.of(user), root);
    if (path === ".." || path.startsWith("../") || path.startsWith("..\\") || isAbsolute(path)) throw outside();
  }
}

function outside(): ServiceError {
  return new ServiceError("permission_denied", "There is no such workspace among yours.", {
    reason: "workspace_outside",
    hint: "Leave settings.working_dir empty, name a directory in your own, or keep the files with you: --local-files.",
  });
}

/** Lower case only, and no name with a special meaning on some file system. */
const plain = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9_-])?$/;
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * The directory of a tenant or user: the name itself if it is safe on every file system, otherwise `~` and its digest, which no
 * safe name begins with. Two names never share one, even on a case-insensitive system.
 */
export function directoryName(name: string): string {
  if (plain.test(name) && !reserved.test(name)) return name;
  return `~${createHash("sha256").update(name, "utf8").digest("hex").slice(0, 40)}`;
}
