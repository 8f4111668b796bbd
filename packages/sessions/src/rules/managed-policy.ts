import { join } from "node:path";
import { type Limit, type Limits, leastPrivilege, meet, noLimits } from "@gennai/governance/limits/limits";
import { parsePolicy } from "@gennai/governance/limits/policy-schema";
import { checkExamples } from "@gennai/governance/rules/check-examples";
import { compilePatterns } from "@gennai/governance/rules/compile/compile-rules";
import { describeRuleProblem } from "@gennai/governance/rules/compile/rule-set";
import { listRootDirectory, readRootFile, rootDirectory } from "@gennai/machine/config/root-file";
import { parseStrictYaml } from "@gennai/machine/config/strict-yaml";
import { sha256Hex } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import { SlowPatternWorker } from "./slow-pattern-worker.ts";

/** Where root's policies lie, and how they are read: only what root alone can change. */
export interface PolicyFiles {
  /** Absolute: has `policy.yaml` and `policy.d/*.yaml`. */
  readonly directory: string;
  /** Names in a directory, sorted; none if it does not exist. */
  list(directory: string): readonly string[];
  /** Undefined if it does not exist. */
  read(file: string): Promise<string | undefined>;
}

export interface LoadedPolicy {
  readonly limits: Limits;
  /** Digests of the texts in force, or of what cannot be used. */
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly warnings: readonly string[];
}

/** This machine's. */
function rootPolicyFiles(): PolicyFiles {
  return { directory: rootDirectory(process.platform), list: listRootDirectory, read: readRootFile };
}

interface Version {
  readonly limit: Limit;
  readonly sha256: string;
}

/**
 * The policies of root. A file that cannot be used permits only reading, beside what the others say. One that was in use before stays as it
 * was, also when it disappears, until the process ends.
 */
export class ManagedPolicy {
  readonly #files: PolicyFiles;
  readonly #good = new Map<string, Version>();

  constructor(files: PolicyFiles = rootPolicyFiles()) {
    this.#files = files;
  }

  /** Reads all files anew. Never rejects. */
  async load(): Promise<LoadedPolicy> {
    const { directory } = this.#files;
    const warnings: string[] = [];
    const versions: (readonly [string, Version])[] = [];
    const [top, parts] = [this.#names(directory), this.#names(join(directory, "policy.d"))];
    for (const at of [top, parts])
      if (at.problem !== undefined) versions.push([at.directory, broken(at.directory, at.problem)]);
    const there = [
      ...top.names.filter((name) => /^policy\.ya?ml$/i.test(name)).map((name) => join(top.directory, name)),
      ...parts.names.filter((name) => /\.ya?ml$/i.test(name)).map((name) => join(parts.directory, name)),
    ];
    for (const file of new Set([...there, ...this.#good.keys()])) {
      const before = this.#good.get(file);
      const now = await this.#version(file);
      if (now === undefined ? before === undefined : now.limit.problem === undefined) {
        if (now === undefined) continue;
        this.#good.set(file, now);
        versions.push([file, now]);
      } else if (before === undefined) versions.push([file, now ?? broken(file, `${file} is gone`)]);
      else {
        versions.push([file, before]);
        warnings.push(
          `${now?.limit.problem ?? `${file} is gone`}; its last version stays in force until the server is restarted`,
        );
      }
    }
    const limits = versions.reduce<Limits>((all, [, { limit }]) => meet(all, [limit]), noLimits);
    return { limits, files: versions.map(([path, { sha256 }]) => ({ path, sha256 })), warnings };
  }

  #names(directory: string) {
    try {
      return { directory, names: this.#files.list(directory) };
    } catch (error) {
      return { directory, names: [], problem: errorMessage(error) };
    }
  }

  async #version(file: string): Promise<Version | undefined> {
    let text = "";
    try {
      const read = await this.#files.read(file);
      if (read === undefined) return undefined;
      text = read;
      if (!file.endsWith(".yaml")) throw new Error(`${file} is not read under this name; end it with .yaml`);
      return { limit: await readPolicy(text, file), sha256: sha256Hex(text) };
    } catch (error) {
      return { limit: broken(file, errorMessage(error)).limit, sha256: sha256Hex(text) };
    }
  }
}

/** The limits of one file, whose examples hold. Rejects with `Error` whose message begins with `FILE:LINE`. */
export async function readPolicy(text: string, file: string): Promise<Limit> {
  const limit = rootPolicy(text, file);
  await assertExamples(limit);
  return limit;
}

/** The limits of one file. Throws `Error` whose message begins with `FILE:LINE`. */
function rootPolicy(text: string, file: string): Limit {
  const lines = text.trimEnd().split("\n");
  // YAML that was cut off is YAML, and says less.
  if (lines.length < 2 || lines.at(-1)?.trimEnd() !== "...") {
    throw new Error(
      `${file}:${lines.length}: it does not end with a line of three dots, so it may be cut off; add ...`,
    );
  }
  const { data, lineOf } = parseStrictYaml(text, file);
  return parsePolicy(data, { holder: "root", file, lineOf });
}

/** Rules that do not say what their examples say are not what was meant. Throws `Error`. */
async function assertExamples({ rules }: Limit): Promise<void> {
  if (rules === undefined || rules.patterns.length === 0) return;
  await using slow = new SlowPatternWorker();
  const { signal } = new AbortController();
  const [wrong] = (await checkExamples(rules.file, compilePatterns(rules).patterns, slow, { signal })).problems;
  if (wrong !== undefined) throw new Error(describeRuleProblem(wrong));
}

function broken(file: string, problem: string): Version {
  return { limit: leastPrivilege(problem, { name: file, holder: "root", file }), sha256: sha256Hex("") };
}
