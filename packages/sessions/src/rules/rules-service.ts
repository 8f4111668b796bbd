import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { managedRules } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import { checkExamples } from "@gennai/governance/rules/check-examples";
import { type CompiledRules, compilePatterns, compileRules } from "@gennai/governance/rules/compile/compile-rules";
import { pathForm } from "@gennai/governance/rules/compile/path-form";
import {
  countRules,
  describeRuleProblem,
  type RuleFile,
  type RuleProblem,
} from "@gennai/governance/rules/compile/rule-set";
import type { SlowPattern } from "@gennai/governance/rules/compile/slow-pattern";
import { type RulesStatus, rulesStatusText } from "@gennai/governance/rules/rules-status";
import { type RuleViolation, violationWords } from "@gennai/governance/rules/violation";
import { violationShownMs } from "@gennai/protocol/model/governance/violation-shown";
import {
  floorRules,
  type LoadedRuleFile,
  type RulePath,
  readRuleFile,
  ruleFilePaths,
  ruleFileStamp,
} from "./read-rule-file.ts";
import { SlowPatternWorker } from "./slow-pattern-worker.ts";

export interface RulesServiceOptions {
  /** Real path of the workspace. */
  readonly root: string;
  /** Directory from which its rule files are read; default: the root. */
  readonly controlRoot?: string;
  /** The user's home; default: that of the process. */
  readonly home?: string;
  /** The user's home on the workspace's machine, if that is another one. */
  readonly homeThere?: string;
  /** `$XDG_CONFIG_HOME`; default: `.config` in the home. */
  readonly configDir?: string | undefined;
  /** Called after the rules or their problems changed, and if there are problems at the beginning. */
  readonly onChange?: (status: RulesStatus) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Results of the examples of one file. */
export interface RuleExamples {
  readonly file: string;
  readonly rules: number;
  /** Examples that were run. */
  readonly checked: number;
  readonly problems: readonly RuleProblem[];
}

/** One file with its last content and its last usable version. */
interface WatchedFile {
  readonly at: RulePath;
  stamp: string;
  /** Rules in force from this file; undefined if it never had any. */
  rules: RuleFile | undefined;
  /** True while the file has errors and there never was a version without any. */
  unusable: boolean;
  problems: readonly RuleProblem[];
  examples: number;
}

/**
 * The rules of one workspace, reloaded completely when a file changes. If a file becomes invalid, its last valid rules stay in
 * force. If it never was valid, its usable rules apply and nothing may be changed until it is corrected, unless the user's own
 * file says `onInvalidRules: continue`. If a file disappears while the service is open, its last rules stay.
 */
export class RulesService implements AsyncDisposable {
  readonly slow: SlowPattern;
  readonly #worker: SlowPatternWorker;
  readonly #options: RulesServiceOptions;
  readonly #homes: readonly string[];
  readonly #files: WatchedFile[];
  readonly #closed = new AbortController();
  readonly #now: () => number;
  #rules: CompiledRules | undefined;
  #loading: Promise<CompiledRules> | undefined;
  #wide: readonly RuleProblem[] = [];
  /** Of policies that nobody here can lift. */
  #managed: readonly RuleFile[] = [];
  /** Rules and problems in the last status. */
  #said = "";
  #violation: { readonly words: string; readonly time: number } | undefined;

  /** Loads all rules. Never rejects because of a rule file's content. */
  static async open(options: RulesServiceOptions): Promise<RulesService> {
    const service = new RulesService(options);
    await service.current();
    return service;
  }

  private constructor(options: RulesServiceOptions) {
    const home = options.home ?? homedir();
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#worker = new SlowPatternWorker();
    this.slow = this.#worker;
    this.#homes = [...new Set(options.homeThere === undefined ? [home, realOrSame(home)] : [options.homeThere])];
    const { root, controlRoot = root, configDir } = options;
    this.#files = ruleFilePaths({ root: controlRoot, home, configDir }).map((at) => ({
      at,
      stamp: "never",
      rules: undefined,
      unusable: false,
      problems: [],
      examples: 0,
    }));
  }

  /** The rules of limits hold from now on. */
  async lay(limits: Limits): Promise<this> {
    const managed = managedRules(limits);
    if (JSON.stringify(managed) === JSON.stringify(this.#managed)) return this;
    this.#managed = managed;
    await this.#loading?.catch(() => undefined);
    this.#rules = undefined;
    await this.current();
    return this;
  }

  /** The current rules; synchronous if no file changed. */
  current(): CompiledRules | Promise<CompiledRules> {
    if (this.#loading !== undefined) return this.#loading;
    const rules = this.#rules;
    if (rules !== undefined && this.#files.every((file) => ruleFileStamp(file.at) === file.stamp)) return rules;
    this.#loading = this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** The rules in force, the floor first. */
  async files(): Promise<readonly RuleFile[]> {
    await this.current();
    return [floorRules().rules, ...this.#managed, ...this.#files.flatMap((file) => file.rules ?? [])];
  }

  status(): RulesStatus {
    const problems = this.#problems();
    const recent = this.#violation !== undefined && this.#now() - this.#violation.time < violationShownMs;
    return {
      count: this.#rules?.count ?? 0,
      text: rulesStatusText({
        count: this.#rules?.count ?? 0,
        readOnly: this.#rules?.readOnly,
        errors: problems.filter(({ severity }) => severity === "error").length,
        recentViolation: recent ? (this.#violation?.words ?? "") : "",
      }),
      lastViolation: this.#violation?.words ?? "",
      problems: problems.map(describeRuleProblem),
      policySha256: this.#rules?.sha256 ?? "",
    };
  }

  /**
   * Shows a violation in the status for a while. An action that the user allowed is no violation any more.
   * `input`: JSON, redacted.
   */
  violation(violation: Pick<RuleViolation, "tool" | "input" | "action">): void {
    if (violation.action === "confirmed") {
      if (this.#violation?.words === violationWords(violation)) this.#violation = undefined;
      return;
    }
    this.#violation = { words: violationWords(violation), time: this.#now() };
  }

  /** For each file, the number of examples run and the failures. Files' examples ran when they were loaded. */
  async examples(): Promise<readonly RuleExamples[]> {
    const { rules, patterns, problems } = floorRules();
    const floor = await checkExamples(rules.file, patterns, this.slow, { signal: this.#closed.signal });
    const loaded = this.#files.filter((file) => file.stamp !== "" || file.rules !== undefined);
    return [
      {
        file: rules.file,
        rules: rules.patterns.length,
        checked: floor.checked,
        problems: [...problems, ...floor.problems],
      },
      ...(await this.#managedExamples()),
      ...loaded.map((file) => ({
        file: file.at.name,
        rules: (file.rules?.patterns.length ?? 0) + (file.rules?.paths.length ?? 0) + (file.rules?.tools.length ?? 0),
        checked: file.examples,
        problems: file.problems,
      })),
    ];
  }

  #managedExamples(): Promise<readonly RuleExamples[]> {
    return Promise.all(
      this.#managed.map(async (rules) => {
        const { signal } = this.#closed;
        const ran = await checkExamples(rules.file, compilePatterns(rules).patterns, this.slow, { signal });
        return { file: rules.file, rules: countRules([rules]), ...ran };
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#loading?.catch(() => undefined);
    await this.#worker[Symbol.asyncDispose]();
  }

  #problems(): readonly RuleProblem[] {
    return [...floorRules().problems, ...this.#files.flatMap((file) => file.problems), ...this.#wide];
  }

  async #load(): Promise<CompiledRules> {
    const { signal } = this.#closed;
    for (const file of this.#files) {
      const stamp = ruleFileStamp(file.at);
      if (stamp === file.stamp) continue;
      // The stamp is older than the reading, so a change during it is noticed by the next decision.
      const loaded = stamp === "" ? undefined : await readRuleFile(file.at, this.slow, { signal });
      take(file, loaded);
      file.stamp = stamp;
    }
    const files = this.#files.flatMap((file) => file.rules ?? []);
    const readOnly = this.#readOnly();
    const rules = compileRules([floorRules().rules, ...this.#managed, ...files], {
      place: { root: this.#options.root, homes: this.#homes },
      ...(readOnly === undefined ? {} : { readOnly }),
    });
    this.#wide = rulesOverWorkspace(rules);
    const isFirst = this.#said === "";
    const before = this.#said;
    this.#rules = rules;
    const status = this.status();
    this.#said = [status.policySha256, ...status.problems].join("\n");
    if (isFirst ? status.problems.length > 0 : this.#said !== before) this.#options.onChange?.(status);
    return rules;
  }

  #readOnly(): string | undefined {
    if (this.#files.some(({ rules }) => rules?.layer === "user" && rules.onInvalidRules === "continue"))
      return undefined;
    const problem = [
      ...floorRules().problems,
      ...this.#files.filter((file) => file.unusable).flatMap((file) => file.problems),
    ].find(({ severity }) => severity === "error");
    return problem && describeRuleProblem(problem);
  }
}

/** Rules for a whole system often name a directory that contains the workspace: then they cover all of it. */
function rulesOverWorkspace(rules: CompiledRules): readonly RuleProblem[] {
  const root = pathForm(rules.place.root, rules.place.root);
  return rules.groups.flatMap(({ paths }) =>
    paths.flatMap(({ rule, covers }) => {
      if (!covers(root)) return [];
      const [, file = rule.place, line = "1"] = /^(.*):(\d+)$/.exec(rule.place) ?? [];
      const message = `${JSON.stringify(rule.pattern)} covers the whole workspace`;
      return [{ severity: "warning", file, line: Number(line), rule: rule.name, message } as const];
    }),
  );
}

/** Takes over a file's new content, or keeps what stays in force. */
function take(file: WatchedFile, loaded: LoadedRuleFile | undefined): void {
  if (loaded === undefined) {
    if (file.rules === undefined) return;
    if (file.at.meant !== undefined) {
      file.rules = undefined;
      file.problems = [];
      file.unusable = false;
      return;
    }
    const why = file.at.fallbackFor === undefined ? "is gone" : "does not count any more";
    const message = `${why}; its last rules stay in force until the server is restarted`;
    file.problems = [{ severity: "warning", file: file.at.name, line: 1, rule: "", message }];
    return;
  }
  const bad = loaded.problems.some(({ severity }) => severity === "error");
  const hadGood = file.rules !== undefined && !file.unusable;
  file.problems = loaded.problems;
  file.examples = loaded.examples;
  if (bad && hadGood) return;
  file.rules = loaded.rules;
  file.unusable = bad;
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
