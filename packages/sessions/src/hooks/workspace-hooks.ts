import { join } from "node:path";
import { type HookCommand, parseHooks } from "@gennai/governance/hooks/hook-config";
import { readUserFile } from "@gennai/machine/config/user-file";
import { errorMessage } from "@gennai/protocol/error-message";
import { projectHooksFile, readProjectHooks, trustedDigest, trustProjectHooks } from "./hook-trust.ts";

export interface LoadedHooks {
  readonly hooks: readonly HookCommand[];
  /** Hooks that somebody wants and that cannot be known: what they would have refused is refused. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export interface HooksDirectories {
  readonly configDir: string;
  readonly stateDir: string;
  /** Real path. */
  readonly workspaceRoot: string;
}

/** The programs that people have judge the calls in a workspace. */
export class WorkspaceHooks {
  readonly #place: HooksDirectories;

  constructor(place: HooksDirectories) {
    this.#place = place;
  }

  /** The user's hooks, and the project's if a person trusted them as they are. Never rejects. */
  async load(): Promise<LoadedHooks> {
    const { configDir, stateDir, workspaceRoot } = this.#place;
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
      trusted = await trustedDigest(stateDir, workspaceRoot);
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
      // What was never trusted does not run anyway.
      (trusted === undefined ? warnings : problems).push(errorMessage(error));
    }
    return { hooks, problems, warnings };
  }

  /**
   * Remembers that a person trusts the project's hooks file as it is now; a change takes the trust away. Resolves with the
   * commands it runs, or undefined when there is no such file. Rejects for a file that is not valid.
   * @param record gets the file's SHA-256, before it is trusted: where it rejects, nothing is
   */
  trust(record: (sha256: string) => Promise<void>): Promise<readonly string[] | undefined> {
    return trustProjectHooks(this.#place.stateDir, this.#place.workspaceRoot, record);
  }
}
