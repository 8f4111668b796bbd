import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fixedSettings, guardedGit, programSettings, settingsEnvironment } from "@gennai/git/run/git-settings";
import { machineGit } from "@gennai/git/run/machine-git";
import { quoted } from "@gennai/governance/command/shell-words";
import type { Stage } from "@gennai/stage/stage";

/** Git on a stage: it answers by the index, the settings and the rules that the user will have if all of the run is kept. */
export class GitOnStage {
  /** Top of the work tree. */
  readonly workTree: string;
  readonly #index: string | undefined;
  readonly #stage: Stage;
  readonly #environment: Readonly<Record<string, string>>;

  /** @param environment that of the command @param index file to use as the work tree's index, instead of the stage's */
  constructor(stage: Stage, workTree: string, environment: Readonly<Record<string, string>>, index?: string) {
    this.#stage = stage;
    this.workTree = workTree;
    this.#index = index;
    this.#environment = environment;
  }

  /**
   * What git prints; undefined if it fails. It starts no program that a repository names.
   * @param directory absolute path in the work tree
   * @param names git's last arguments; with `--stdin` among `args`, its input
   */
  async ask(directory: string, args: readonly string[], names: readonly string[] = []): Promise<Buffer | undefined> {
    const { program } = await machineGit();
    const git = ["/bin/sh", "-c", guardedGit, program, programSettings, directory, ...args];
    const reader = names.length === 0 || args.includes("--stdin") ? "" : "xargs -0 ";
    const file = join(this.#stage.transaction.roots[0]?.directory ?? "", "names");
    writeFileSync(file, names.map((name) => `${name}\0`).join(""), { mode: 0o600 });
    const source = directory === this.workTree ? this.#index : undefined;
    const index = source === undefined ? [] : [{ path: indexInside, source }];
    try {
      const { output, leftOut } = await this.#stage.run(
        {
          // Output of commands becomes text, which is no way for bytes.
          text: `cd ${quoted(directory)} && { ${reader}${git.map(quoted).join(" ")} <${inside}; printf '\\0%s' $?; } 2>/dev/null | base64`,
          cwd: this.workTree,
          environment: {
            ...this.#environment,
            ...settingsEnvironment([...fixedSettings, ["safe.directory", "*"], ["core.untrackedCache", "false"]]),
            PATH: `${dirname(program)}:/usr/bin:/bin`,
            ...(index.length === 0 ? {} : { GIT_INDEX_FILE: indexInside }),
          },
          mounts: [{ path: inside, source: file }, ...index],
          timeoutMs,
          keepBytes,
        },
        { signal: AbortSignal.timeout(timeoutMs) },
      );
      const answer = Buffer.from(output, "base64");
      const end = answer.lastIndexOf(0);
      // Exit code 1: nothing was found.
      const isWhole = leftOut === 0 && end >= 0 && ["0", "1"].includes(answer.toString("latin1", end + 1));
      return isWhole ? answer.subarray(0, end) : undefined;
    } finally {
      rmSync(file);
    }
  }

  /** As `ask`, for an answer of parts that each end with NUL. */
  async list(...question: Parameters<GitOnStage["ask"]>): Promise<readonly string[] | undefined> {
    return (await this.ask(...question))?.toString("utf8").split("\0").slice(0, -1);
  }
}

/** The names' place in the run. */
const inside = "/.names";
const indexInside = "/.index";
const timeoutMs = 120_000;
const keepBytes = 64 * 1024 * 1024;
