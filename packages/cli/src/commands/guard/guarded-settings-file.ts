import { randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  ensurePrivateDirectory,
  findPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from "@gennai/machine/private-file";
import { hasCode } from "@gennai/machine/system-error";
import { sha256Hex } from "@gennai/protocol/digest";
import * as z from "zod";
import { CliError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-code.ts";
import {
  eventsAmiss,
  foreignHooks,
  type HookEntry,
  ourCommands,
  problemsIn,
  type Settings,
  withHook,
  withoutHook,
} from "./hook-settings.ts";
import { relayScript } from "./relay-script.ts";

/** What stood there before, and what was written in its place. */
const backupSchema = z.strictObject({
  path: z.string(),
  /** undefined: there was no file. */
  before: z.string().optional(),
  madeDirectory: z.boolean(),
  writtenSha256: z.string(),
});
type Backup = z.infer<typeof backupSchema>;

/** The program that hooks start first. It is there while a hook is. */
export function relayPath(stateDir: string): string {
  return join(stateDir, "guard", "relay");
}

/** A settings file of an agent, with our hook or without. What it was before is kept in the state directory. */
export class GuardedSettingsFile {
  readonly path: string;
  readonly #backup: string;
  readonly #stateDir: string;
  readonly #links: "follow" | "refuse";

  /** @param links `follow` in a user's own directory, where people keep such files elsewhere; what a project holds is anybody's */
  constructor(path: string, stateDir: string, links: "follow" | "refuse") {
    this.path = links === "follow" && existsSync(path) ? realpathSync(path) : path;
    this.#links = links;
    this.#stateDir = stateDir;
    this.#backup = join(stateDir, "guard", `${sha256Hex(this.path).slice(0, 32)}.json`);
  }

  /** Of ours, by event. Throws `CliError` for a file that cannot be read. */
  commands(): ReadonlyMap<string, string> {
    return this.#plainly(() => ourCommands(this.settings()));
  }

  settings(): Settings {
    return this.#parsed(this.#text());
  }

  /** @see problemsIn @see foreignHooks */
  surroundings(): { readonly problems: readonly string[]; readonly foreign: readonly string[] } {
    const settings = this.settings();
    return this.#plainly(() => ({ problems: problemsIn(settings), foreign: foreignHooks(settings) }));
  }

  /** Events for which ours is not there as it would be written now. */
  amiss(entry: HookEntry): readonly string[] {
    return this.#plainly(() => eventsAmiss(this.settings(), entry));
  }

  /** False where it is in place as it would be written now. */
  async install(entry: HookEntry): Promise<boolean> {
    this.#refuseLinks();
    const before = this.#text();
    const settings = this.#parsed(before);
    const next = this.#plainly(() => withHook(settings, entry));
    const written = `${JSON.stringify(next, undefined, 2)}\n`;
    await ensurePrivateDirectory(this.#stateDir);
    await ensurePrivateDirectory(dirname(this.#backup));
    await writePrivateFile(relayPath(this.#stateDir), relayScript);
    if (this.amiss(entry).length === 0) return false;
    const kept = await this.#kept();
    const directory = dirname(this.path);
    const madeDirectory = kept?.madeDirectory ?? !existsSync(directory);
    // Installed again over our own writing, the first original stays the original.
    const original =
      kept !== undefined && before !== undefined && sha256Hex(before) === kept.writtenSha256 ? kept.before : before;
    const backup: Backup = {
      path: this.path,
      ...(original === undefined ? {} : { before: original }),
      madeDirectory,
      writtenSha256: sha256Hex(written),
    };
    await writePrivateFile(this.#backup, JSON.stringify(backup));
    mkdirSync(directory, { recursive: true });
    await this.#write(written);
    return true;
  }

  /** Back to the very bytes from before, or, where somebody changed the file since, without ours. False: there was nothing of ours. */
  async uninstall(): Promise<boolean> {
    this.#refuseLinks();
    const text = this.#text();
    const kept = await this.#kept();
    if (text === undefined || this.commands().size === 0) {
      await this.#forget();
      return false;
    }
    if (kept?.writtenSha256 === sha256Hex(text)) await this.#restore(kept.before, kept.madeDirectory);
    else {
      const rest = this.#plainly(() => withoutHook(this.#parsed(text)));
      const isEmpty = Object.keys(rest).length === 0 && kept?.before === undefined;
      await this.#restore(
        isEmpty ? undefined : `${JSON.stringify(rest, undefined, 2)}\n`,
        kept?.madeDirectory === true,
      );
    }
    await this.#forget();
    return true;
  }

  async #forget(): Promise<void> {
    await removePrivateFile(this.#backup);
    const relay = relayPath(this.#stateDir);
    // What hooks in other places start stays.
    if (existsSync(relay) && readdirSync(dirname(relay)).length === 1) await removePrivateFile(relay);
  }

  async #restore(text: string | undefined, madeDirectory: boolean): Promise<void> {
    if (text !== undefined) return this.#write(text);
    rmSync(this.path, { force: true });
    if (!madeDirectory) return;
    try {
      rmdirSync(dirname(this.path));
    } catch (error) {
      // Somebody else's files are in it by now.
      if (!hasCode(error, "ENOTEMPTY")) throw error;
    }
  }

  /** As a whole, with the mode it had. */
  async #write(text: string): Promise<void> {
    const temporary = `${this.path}.${randomBytes(6).toString("hex")}.tmp`;
    const mode = (statSync(this.path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
    try {
      {
        await using file = await open(temporary, "wx", mode);
        await file.chmod(mode);
        await file.writeFile(text);
      }
      await rename(temporary, this.path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** A link that came with a project leads whoever writes to it elsewhere. */
  #refuseLinks(): void {
    if (this.#links === "follow") return;
    for (const path of [dirname(this.path), this.path]) {
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) continue;
      throw new CliError(`${path} is a link. Nothing was changed.`, {
        exitCode: exitCode.usage,
        next: ["Put a directory and a file of the project there, or use your own settings: --user"],
      });
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

  #parsed(text: string | undefined): Settings {
    if (text === undefined || text.trim() === "") return {};
    return this.#plainly(() => {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
      throw new Error("it holds no JSON object");
    });
  }

  async #kept(): Promise<Backup | undefined> {
    const text = await findPrivateFile(this.#backup);
    return text === undefined ? undefined : backupSchema.parse(JSON.parse(text));
  }

  #plainly<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (cause) {
      throw new CliError(`${this.path} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`, {
        exitCode: exitCode.usage,
        next: ["Mend the file first. Nothing was changed."],
        cause,
      });
    }
  }
}
