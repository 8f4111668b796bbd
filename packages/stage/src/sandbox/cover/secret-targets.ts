import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { entryAt } from "@gennai/machine/entry-at";
import { replaceFileSync } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import * as z from "zod";
import { UnprotectedWorkspace } from "./unprotected-workspace.ts";

const targetSchema = z.object({ target: z.string(), link: z.string() });

/**
 * The targets of a tree's links that are named as secrets, also from before a restart: a command may have removed such a link,
 * and nothing else shows that its target is a secret. A target is forgotten when it and its links are gone.
 */
export class SecretTargets {
  readonly #directory: string;
  /** By the target's absolute path, a link to it. */
  readonly #links = new Map<string, string>();

  /** @param directory private, for this tree alone; made when needed. Throws `UnprotectedWorkspace` if its content is damaged. */
  constructor(directory: string) {
    this.#directory = directory;
    for (const name of namesIn(directory)) {
      const { target, link } = readTarget(join(directory, name));
      this.#links.set(target, link);
    }
  }

  /** Absolute paths. */
  add(target: string, link: string): void {
    if (this.#links.has(target)) return;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const file = this.#fileOf(target);
    replaceFileSync(file, JSON.stringify({ target, link }));
    this.#links.set(target, link);
  }

  /** The targets that exist, or to which an existing link leads. */
  paths(): readonly string[] {
    for (const [target, link] of this.#links) {
      if (entryAt(target) !== undefined || entryAt(link) !== undefined) continue;
      rmSync(this.#fileOf(target), { force: true });
      this.#links.delete(target);
    }
    return [...this.#links.keys()];
  }

  #fileOf(target: string): string {
    return join(this.#directory, `${createHash("sha256").update(target).digest("hex")}.json`);
  }
}

function readTarget(file: string): z.infer<typeof targetSchema> {
  try {
    return targetSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const what = "what links named as secrets led to cannot be read";
    throw new UnprotectedWorkspace(`${what} in ${file}. Remove that file when no such link was removed.`, { cause });
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith(".json"));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}
