import { randomBytes } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensurePrivateDirectory, findPrivateFile, removePrivateFile } from "@gennai/machine/private-file";
import { tryFileLock } from "@gennai/machine/process/locks/file-lock";
import { replaceFile } from "@gennai/machine/replace-file";
import { hasCode } from "@gennai/machine/system-error";
import { sha256Hex } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { relayScript } from "./relay-script.ts";

/** How our hook is written in an agent's file. Its methods throw for a text that cannot be parsed, or that we must not change. */
export interface GuardedFormat {
  /** Whether anything of ours is in it. */
  holdsOurs(text: string): boolean;
  /** Whether it starts another program than this one. */
  startsAnother(text: string): boolean;
  /** What of ours differs from what would be written now, or is missing. */
  amiss(text: string): readonly string[];
  withOurs(text: string): string;
  /** undefined: nothing is left. @param wasThere true if there was a file before ours: then a file stays, even an empty one */
  withoutOurs(text: string, wasThere: boolean): string | undefined;
  /** What else in it keeps our hook from working, and which hooks of others there are; texts for people. */
  surroundings(text: string): Readonly<Record<"off" | "problems" | "foreign", readonly string[]>>;
}

/** What the file was before, and the digest of what was written. */
const backupSchema = z.strictObject({
  path: z.string(),
  /** undefined: there was no file. */
  before: z.string().optional(),
  /** Directories that were made for it, the outermost first. */
  madeDirectories: z.array(z.string()).readonly(),
  writtenSha256: z.string(),
});
type Backup = z.infer<typeof backupSchema>;

/** Milliseconds to wait until another `gennai guard` is done. */
const timeoutMs = 20_000;
const pauseMs = 20;

/** The program that hooks start first. It stays: an agent that runs when its hook is taken away goes on to start it. */
export function relayPath(stateDir: string): string {
  return join(stateDir, "guard", "relay");
}

/** A file of an agent, with our hook or without. What it was before is kept in the state directory. */
export class GuardedFile {
  readonly path: string;
  readonly #backup: string;
  readonly #stateDir: string;
  readonly #root: string | undefined;
  readonly #format: GuardedFormat;

  /**
   * @param root project that contains the file. A project's content is untrusted, so links below it are not followed. undefined:
   * the file is in a user's own directory, where such files are often links
   */
  constructor(
    path: string,
    { stateDir, root, format }: { stateDir: string; root?: string | undefined; format: GuardedFormat },
  ) {
    this.path = root === undefined && existsSync(path) ? realpathSync(path) : path;
    this.#root = root;
    this.#stateDir = stateDir;
    this.#format = format;
    this.#backup = join(stateDir, "guard", `${sha256Hex(this.path).slice(0, 32)}.json`);
  }

  /** Throws `CliError`, as all below do, for a file that cannot be read. */
  get isInstalled(): boolean {
    return this.#plainly(() => this.#format.holdsOurs(this.#text() ?? ""));
  }

  get startsAnother(): boolean {
    return this.#plainly(() => this.#format.startsAnother(this.#text() ?? ""));
  }

  get amiss(): readonly string[] {
    return this.#plainly(() => this.#format.amiss(this.#text() ?? ""));
  }

  surroundings(): ReturnType<GuardedFormat["surroundings"]> {
    return this.#plainly(() => this.#format.surroundings(this.#text() ?? ""));
  }

  /** False if it was already installed as it would be written now. */
  async install(): Promise<boolean> {
    this.#refuseLinks();
    await ensurePrivateDirectory(this.#stateDir);
    using _alone = await this.#alone();
    const before = this.#text();
    const written = this.#plainly(() => this.#format.withOurs(before ?? ""));
    await ensurePrivateDirectory(dirname(this.#backup));
    await replaceFile(relayPath(this.#stateDir), relayScript);
    if (this.amiss.length === 0) return false;
    const kept = await this.#kept();
    // If our own text is written over, the first original stays the original.
    const isOwn = kept !== undefined && before !== undefined && sha256Hex(before) === kept.writtenSha256;
    const original = isOwn ? kept.before : this.#cleared(before);
    const backup: Backup = {
      path: this.path,
      ...(original === undefined ? {} : { before: original }),
      madeDirectories: kept?.madeDirectories ?? missingDirectories(dirname(this.path)),
      writtenSha256: sha256Hex(written),
    };
    await replaceFile(this.#backup, JSON.stringify(backup));
    mkdirSync(dirname(this.path), { recursive: true });
    await this.#replace(before, written);
    return true;
  }

  /**
   * Restores the exact earlier bytes, or, if the file was changed since, removes only our part. False: there was nothing of
   * ours.
   */
  async uninstall(): Promise<boolean> {
    this.#refuseLinks();
    if (!existsSync(this.#stateDir) && !this.isInstalled) return false;
    await ensurePrivateDirectory(this.#stateDir);
    using _alone = await this.#alone();
    const text = this.#text();
    const kept = await this.#kept();
    if (text === undefined || !this.isInstalled) {
      await removePrivateFile(this.#backup);
      return false;
    }
    const isOursAlone = kept?.writtenSha256 === sha256Hex(text);
    const wasThere = kept?.before !== undefined;
    const rest = isOursAlone ? kept.before : this.#plainly(() => this.#format.withoutOurs(text, wasThere));
    await this.#replace(text, rest);
    if (rest === undefined) removeEmpty(kept?.madeDirectories ?? []);
    await removePrivateFile(this.#backup);
    return true;
  }

  /** The text without ours, if nothing is known of the installation that put ours there. */
  #cleared(text: string | undefined): string | undefined {
    return this.#plainly(() =>
      text !== undefined && this.#format.holdsOurs(text) ? this.#format.withoutOurs(text, false) : text,
    );
  }

  /** Lock over all installations and removals: a removal could otherwise delete what an installation is about to need. */
  async #alone(): Promise<Disposable> {
    const directory = join(this.#stateDir, "locks");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const giveUp = performance.now() + timeoutMs;
    for (;;) {
      const lock = tryFileLock(join(directory, "guard"));
      if (lock !== undefined) return lock;
      if (performance.now() > giveUp) {
        throw new CliError("Another `gennai guard` is running. Nothing was changed.", { next: ["Try it again."] });
      }
      await sleep(pauseMs);
    }
  }

  /** Replaces the file atomically, with its mode, and only if it still has the text `before`. Undefined: there is no file. */
  async #replace(before: string | undefined, text: string | undefined): Promise<void> {
    const temporary = `${this.path}.${randomBytes(6).toString("hex")}.tmp`;
    const mode = (statSync(this.path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    try {
      if (text !== undefined) {
        await using file = await open(temporary, "wx", mode);
        await file.chmod(mode);
        await file.writeFile(text);
      }
      if (this.#text() !== before) {
        throw new CliError(`${this.path} was changed at the same time, and is left as it is.`, {
          next: ["Try it again."],
        });
      }
      if (text === undefined) rmSync(this.path, { force: true });
      else await rename(temporary, this.path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Refuses links below the root: with one, a project could lead a write to another place. */
  #refuseLinks(): void {
    const root = this.#root;
    if (root === undefined) return;
    for (let path = this.path; path !== root && path !== dirname(path); path = dirname(path)) {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      throw usageError(
        `${path} is a link. Nothing was changed.`,
        "Put a directory and a file of the project there, or use your own settings: --user",
      );
    }
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.path, "utf8");
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
  }

  async #kept(): Promise<Backup | undefined> {
    const text = await findPrivateFile(this.#backup);
    // A backup of an earlier version has less information than the file itself.
    return text === undefined ? undefined : backupSchema.safeParse(JSON.parse(text)).data;
  }

  #plainly<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (cause) {
      throw new CliError(`${this.path} cannot be used: ${errorMessage(cause)}.`, {
        exitCode: exitCode.usage,
        next: ["Correct the file first. Nothing was changed."],
        cause,
      });
    }
  }
}

function missingDirectories(directory: string): readonly string[] {
  return existsSync(directory) ? [] : [...missingDirectories(dirname(directory)), directory];
}

function removeEmpty(directories: readonly string[]): void {
  for (const directory of directories.toReversed()) {
    try {
      rmdirSync(directory);
    } catch (error) {
      // The directory now contains files of others.
      if (!hasCode(error, "ENOTEMPTY") && !hasCode(error, "ENOENT")) throw error;
    }
  }
}
