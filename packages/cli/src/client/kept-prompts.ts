import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory } from "@gennai/machine/private-file";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { replaceFile } from "@gennai/machine/replace-file";
import { isRecord, parsedJson } from "@gennai/protocol/json-value";

/** Prompts that are offered again. */
const most = 1000;

/** Where something was typed. */
interface TypedIn {
  /** Real absolute path. */
  readonly workspace: string;
  readonly session: string;
}

/** What this user typed in earlier conversations, with secrets masked, in a file of the state directory that only they can read. */
export class KeptPrompts {
  readonly #directory: string;
  readonly #file: string;

  constructor(stateDir: string) {
    this.#directory = stateDir;
    this.#file = join(stateDir, "prompts.jsonl");
  }

  /** Oldest first, each once; none where nothing can be read. */
  async load(): Promise<readonly string[]> {
    const prompts = (await this.#lines()).flatMap(({ prompt }) => (typeof prompt === "string" ? [prompt] : []));
    return [...new Set(prompts.toReversed())].slice(0, most).toReversed();
  }

  /** Rejects if it cannot be written. */
  async add(prompt: string, typedIn: TypedIn): Promise<void> {
    const redactor = await createRedactor({ secrets: [] });
    await ensurePrivateDirectory(this.#directory);
    const line = { prompt: await redactor.redact(prompt), ...typedIn };
    await appendFile(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }

  /** Forgets what was typed in a session, or in a whole workspace. Rejects if it cannot be written. */
  async forget(where: Partial<TypedIn>): Promise<void> {
    const lines = await this.#lines();
    const left = lines.filter((line) => !Object.entries(where).every(([name, value]) => line[name] === value));
    if (left.length === lines.length) return;
    await replaceFile(this.#file, left.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  async #lines(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const text = await readFile(this.#file, "utf8").catch(() => "");
    return text
      .split("\n")
      .map((line) => parsedJson(line))
      .filter(isRecord);
  }
}
