import { join } from "node:path";
import { type HookCommand, parseHooks } from "@gennai/governance/hooks/hook-config";
import { managedHooks } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import { readUserFile } from "@gennai/machine/config/user-file";
import { hasCode } from "@gennai/machine/system-error";
import { readControlFile } from "@gennai/machine/workspace/files/read-control-file";
import { sha256Hex } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import { PrivateJson } from "@gennai/store/private-json";
import * as z from "zod";

export interface LoadedHooks {
  readonly hooks: readonly HookCommand[];
  /** Configured hooks that cannot be read: the calls they might refuse are refused. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export interface HooksDirectories {
  readonly configDir: string;
  readonly stateDir: string;
  /** Real path. */
  readonly workspaceRoot: string;
  /** The limits in force, which may bring hooks of their own, or let no others run. */
  readonly limits: () => Promise<Limits>;
}

/** Programs with which users judge the calls in a workspace. */
export class WorkspaceHooks {
  readonly #place: HooksDirectories;
  readonly #trusted: PrivateJson<Readonly<Record<string, string>>>;

  constructor(place: HooksDirectories) {
    this.#place = place;
    this.#trusted = new PrivateJson(place.stateDir, "trusted-hooks.json", { schema: trustSchema, nothing: {} });
  }

  /** A policy's hooks, the user's, and the project's if a user trusted their current content. Never rejects. */
  async load(): Promise<LoadedHooks> {
    const { commands, only } = managedHooks(await this.#place.limits());
    const own = await this.#own();
    if (only === undefined) return { ...own, hooks: [...commands, ...own.hooks] };
    const left = own.hooks.length + own.problems.length > 0;
    return {
      hooks: commands,
      problems: [],
      warnings: left ? [`Your hooks, and this project's, do not run: ${only}`] : [],
    };
  }

  async #own(): Promise<LoadedHooks> {
    const { configDir, workspaceRoot } = this.#place;
    const hooks: HookCommand[] = [];
    const problems: string[] = [];
    const warnings: string[] = [];
    const userFile = join(configDir, "hooks.json");
    try {
      const text = await readUserFile(userFile);
      if (text !== undefined) hooks.push(...parseHooks(text, userFile));
    } catch (error) {
      problems.push(errorMessage(error));
    }
    let trusted: string | undefined;
    try {
      trusted = (await this.#trusted.read())[workspaceRoot];
      const found = await readProjectHooks(workspaceRoot);
      if (found === undefined) {
        if (trusted !== undefined)
          warnings.push(`${projectHooksFile} is gone; its hooks, which you trusted, do not run.`);
      } else if (found.sha256 === trusted) hooks.push(...parseHooks(found.text, projectHooksFile));
      else {
        const why = trusted === undefined ? "it was not trusted yet" : "it changed since you trusted it";
        warnings.push(`The hooks of ${projectHooksFile} do not run: ${why}. Read it, then: gennai hooks trust`);
      }
    } catch (error) {
      // Hooks that were never trusted do not run anyway.
      (trusted === undefined ? warnings : problems).push(errorMessage(error));
    }
    return { hooks, problems, warnings };
  }

  /**
   * Records that a user trusts the current hooks file of the project; any change ends the trust. Resolves with the commands it
   * runs, undefined if there is no such file. Rejects for an invalid file.
   * @param record gets the file's SHA-256 before it is trusted: if it rejects, the file is not trusted
   */
  async trust(record: (sha256: string) => Promise<void>): Promise<readonly string[] | undefined> {
    const { workspaceRoot } = this.#place;
    const found = await readProjectHooks(workspaceRoot);
    if (found === undefined) return undefined;
    const commands = parseHooks(found.text, projectHooksFile).map(({ command }) => command);
    await record(found.sha256);
    await this.#trusted.change((trusted) => ({ ...trusted, [workspaceRoot]: found.sha256 }));
    return commands;
  }
}

const projectHooksFile = ".gennai/hooks.json";
const maxBytes = 256 * 1024;

/** Real path of the workspace, and SHA-256 of the hooks file that a user reviewed. */
const trustSchema = z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/));

/** The workspace's own hooks file; undefined if there is none. Throws `UnreadableFile`. */
async function readProjectHooks(
  workspaceRoot: string,
): Promise<{ readonly text: string; readonly sha256: string } | undefined> {
  try {
    const text = await readControlFile(workspaceRoot, projectHooksFile, maxBytes);
    return { text, sha256: sha256Hex(text) };
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}
