import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory } from "@gennai/machine/private-file";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { parsedJson } from "@gennai/protocol/json-value";

/** Prompts that are offered again. */
const most = 1000;

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
    const text = await readFile(this.#file, "utf8").catch(() => "");
    const prompts = text
      .split("\n")
      .map((line) => parsedJson(line))
      .filter((prompt) => typeof prompt === "string");
    return [...new Set(prompts.toReversed())].slice(0, most).toReversed();
  }

  /** Rejects if it cannot be written. */
  async add(prompt: string): Promise<void> {
    const redactor = await createRedactor({ secrets: [] });
    await ensurePrivateDirectory(this.#directory);
    await appendFile(this.#file, `${JSON.stringify(await redactor.redact(prompt))}\n`, { mode: 0o600 });
  }
}
