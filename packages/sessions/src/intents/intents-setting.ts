import { lstatSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";
import { replaceFile } from "@gennai/machine/replace-file";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import * as z from "zod";

const schema = z.object({
  root: z.string(),
  mode: z.enum(intentsModeWords.words).optional(),
  /** For `auto`: an intents file once existed. */
  seen: z.boolean(),
  accepted: z.string().optional(),
});

export interface IntentsSetting {
  /** The user's choice for this workspace; undefined: the server's default. */
  readonly mode: IntentsMode | undefined;
  readonly seen: boolean;
  /** SHA-256 of the intents file that a user accepted. */
  readonly accepted?: string | undefined;
}

/** The user's setting for one workspace, in the state directory, where neither workspace files nor agents can change it. */
export class IntentsSettingFile {
  readonly #directory: string;
  readonly #root: string;
  readonly path: string;

  /** @param root real path of the workspace */
  constructor(stateDir: string, root: string) {
    this.#directory = join(stateDir, "intents");
    this.#root = root;
    this.path = join(this.#directory, `${workspaceIdOf(root).slice(0, 32)}.json`);
  }

  /** A damaged file counts as one that had intents: doubt must not turn anything off. */
  async read(): Promise<IntentsSetting> {
    let text: string;
    try {
      // The file is usually missing, it is checked before every model call, and an exception costs more than this check.
      if (lstatSync(this.path, { throwIfNoEntry: false }) === undefined) return { mode: undefined, seen: false };
      text = readFileSync(this.path, "utf8");
    } catch {
      return { mode: undefined, seen: true };
    }
    try {
      const { mode, seen, accepted } = schema.parse(JSON.parse(text));
      return { mode, seen, accepted };
    } catch {
      return { mode: undefined, seen: true };
    }
  }

  async write(setting: IntentsSetting): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await replaceFile(this.path, `${JSON.stringify({ root: this.#root, ...setting })}\n`, { durable: true });
    await syncDirectory(this.#directory);
  }
}
