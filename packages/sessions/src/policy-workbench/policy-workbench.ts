import { homedir } from "node:os";
import { decideCall } from "@gennai/governance/gate/decide-call";
import { createIntentsPolicy } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import { createGitContentsPolicy } from "@gennai/governance/policies/git-contents";
import type { Policy } from "@gennai/governance/policy";
import type { Redactor } from "@gennai/governance/redaction";
import { ruleVerdicts } from "@gennai/governance/rules/rules-policy";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { Analysis, Tool } from "@gennai/governance/tool";
import { allow, ask, deny, strictest, type Verdict } from "@gennai/governance/verdict";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { gitContentsGuard } from "@gennai/machine/git/contents-guard";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { editorMethods } from "@gennai/protocol/model/editor-messages";
import type { Risk } from "@gennai/protocol/model/risk";
import type { BlobStore } from "@gennai/store/log/session-log";
import { IntentsService } from "../intents/intents-service.ts";
import { callPolicies } from "../policies/call-policies.ts";
import { branchState, isOwnBranch } from "../policies/own-branch.ts";
import { RulesService } from "../rules/rules-service.ts";
import { createTools } from "../tools/tool-set.ts";
import { decidableTool } from "./decidable-tool.ts";
import { ReadAlready } from "./read-already.ts";
import { namedCall } from "./tool-input.ts";

export interface WorkbenchOptions {
  readonly workspace: string;
  /** The server's state directory, which no workspace may hold. */
  readonly stateDir: string;
  /** Assumed for `~` and the user's rules; by default that of the process. */
  readonly home?: string;
  /** `$XDG_CONFIG_HOME`, when no home is assumed. */
  readonly configDir?: string | undefined;
  /** The intent assumed to be selected; without one, intents play no part in the answers. */
  readonly intent?: string;
  /**
   * Whether commands are taken to run in a sandbox, in Branch Mode on the branch that is checked out, as in a session of
   * the server; false by default.
   */
  readonly sandboxed?: boolean;
}

/** What all rules say of one call. */
export interface WorkbenchReport {
  readonly tool: string;
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  /** Rule, reason and hint of the strictest verdict; empty for a plain allow. */
  readonly rule: string;
  readonly reason: string;
  readonly hint: string;
  /** Every rule that asks or denies, strictest first. */
  readonly rules: readonly FiredRule[];
  /** How the call was understood; undefined when it is no call that could run. */
  readonly reading: Reading | undefined;
}

export interface FiredRule {
  readonly policy: string;
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
}

export interface Reading {
  readonly statement: string;
  readonly paths: readonly { readonly raw: string; readonly path: string; readonly access: string }[];
  /** Simple commands, wrappers taken off; `*` stands for what is not known before it runs. */
  readonly commands: readonly string[];
  readonly readsOnly: boolean;
  readonly unresolved: readonly string[];
}

/** Throws `ToolFailure` `invalid_intent` for an intent that cannot be selected. */
async function intentPolicies(root: string, intents: IntentsService, id: string): Promise<readonly Policy[]> {
  await intents.selectable(id);
  return [
    createIntentsPolicy({ root, rules: async () => ({ ...(await intents.rules(id)), on: true }) }),
    createScopeExpansionPolicy(),
  ];
}

/**
 * All tools and policies of a workspace, for asking what they would say. Nothing runs, nobody is asked, nothing is recorded,
 * and the programs of external hooks are not started.
 */
export class PolicyWorkbench implements AsyncDisposable {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #policies: readonly Policy[];
  readonly #home: string;
  readonly #found: Map<string, readonly Verdict[]>;
  readonly rules: RulesService;
  /** Real path. */
  readonly root: string;
  readonly #closed = new AbortController();
  #count = 0;

  /** Throws `WorkspaceError` for a directory that can be none, and `ServiceError` for a project configuration that is bad. */
  static async open(options: WorkbenchOptions): Promise<PolicyWorkbench> {
    const home = options.home ?? homedir();
    const workspace = openLocalWorkspace(options.workspace, { stateDir: options.stateDir, home });
    const config = await loadProjectConfig(workspace.root);
    const rules = await RulesService.open({ root: workspace.root, home, configDir: options.configDir });
    const intents = IntentsService.open({ workspace, stateDir: options.stateDir });
    const knownFiles = new ReadAlready(workspace.root);
    const tools = createTools({
      workspace,
      editor: noEditor,
      knownFiles,
      blobs: noBlobs,
      todos: { read: () => [] },
      intents,
      activeIntent: () => options.intent,
      home,
      environment: commandEnvironment({}),
      controlWatch: { begin: nothingRuns },
      exclude: [],
      now: Date.now,
    });
    const found = new Map<string, readonly Verdict[]>();
    const rulesPolicy: Policy = {
      name: "rules",
      kind: "guard",
      async decide(input, { signal }) {
        const verdicts = await ruleVerdicts(input, await rules.current(), rules.slow, { signal });
        found.set(input.callId, verdicts);
        return strictest([allow, ...verdicts]);
      },
    };
    const ownDirectories = [options.stateDir];
    const { root } = workspace;
    const { protectedBranches } = config;
    const onOwnBranch = (): boolean =>
      isOwnBranch(branchState({ controlRoot: root, sessionBranch: undefined, protectedBranches }));
    const commands = { sandboxed: options.sandboxed ?? false, mode: "branch", root, onOwnBranch } as const;
    const policies = callPolicies({
      workspaceRoot: root,
      controlRoot: root,
      config,
      ownDirectories,
      commands,
      rules,
    });
    return new PolicyWorkbench({
      tools: new Map([...tools].map(([name, tool]) => [name, decidableTool(tool, { workspace, knownFiles })])),
      policies: [
        rulesPolicy,
        ...(options.intent === undefined ? [] : await intentPolicies(workspace.root, intents, options.intent)),
        ...policies,
        createGitContentsPolicy(gitContentsGuard(() => rules.current())),
      ],
      rules,
      root: workspace.root,
      home,
      found,
    });
  }

  private constructor(parts: {
    readonly tools: ReadonlyMap<string, Tool>;
    readonly policies: readonly Policy[];
    readonly rules: RulesService;
    readonly root: string;
    readonly home: string;
    readonly found: Map<string, readonly Verdict[]>;
  }) {
    this.#tools = parts.tools;
    this.#policies = parts.policies;
    this.rules = parts.rules;
    this.root = parts.root;
    this.#home = parts.home;
    this.#found = parts.found;
  }

  get status(): RulesStatus {
    return this.rules.status();
  }

  /** The user's home as rules take it. */
  get home(): string {
    return this.#home;
  }

  /** @param tool one of our names or another agent's, see `namedCall` */
  async decide(tool: string, input: Readonly<Record<string, unknown>>): Promise<WorkbenchReport> {
    const { name, input: args } = namedCall(tool, input);
    const id = `check-${++this.#count}`;
    const decided = await decideCall(
      { id, name, argumentsJson: JSON.stringify(args) },
      { callId: id, turnId: id, signal: this.#closed.signal },
      {
        tools: this.#tools,
        policies: this.#policies,
        redactor: plain,
        sessionId: "policy-workbench",
        policyTimeoutMs: 5_000,
      },
    );
    const found = this.#found.get(id) ?? [];
    this.#found.delete(id);
    if (decided.type === "invalid") {
      const { code, message, rule = `tool/${code}`, hint = "" } = decided.error;
      const fired: FiredRule = { policy: "gate", rule, verdict: "deny", reason: message };
      return {
        tool: name,
        verdict: "deny",
        risk: "low",
        rule,
        reason: message,
        hint,
        rules: [fired],
        reading: undefined,
      };
    }
    const verdicts = decided.fired.flatMap(({ policy, verdict }) =>
      withAll(policy, verdict, found, decided.analysis).map((each) => ({ policy, verdict: each })),
    );
    const finding = decided.verdict.type === "allow" ? undefined : decided.verdict.finding;
    return {
      tool: name,
      verdict: decided.verdict.type,
      risk: decided.risk,
      rule: finding?.rule ?? "",
      reason: finding?.reason ?? "",
      hint: finding?.hint ?? "",
      rules: firedRules(verdicts),
      reading: readingOf(decided.analysis),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.rules[Symbol.asyncDispose]();
  }
}

/** A policy gives one verdict; some can say all that led to it. */
function withAll(policy: string, verdict: Verdict, found: readonly Verdict[], analysis: Analysis): readonly Verdict[] {
  if (policy === "rules" && found.length > 0) return found;
  if (policy !== "commands") return [verdict];
  const dangers = analysis.effects.flatMap((effect) => (effect.type === "exec" ? effect.command.dangers : []));
  const [, ...more] = dangers.map(({ rule, reason, verdict: type }): Verdict => {
    const finding = { code: "dangerous_command", rule, reason };
    return type === "deny" ? deny(finding) : ask(finding);
  });
  return [verdict, ...more];
}

function firedRules(verdicts: readonly { readonly policy: string; readonly verdict: Verdict }[]): readonly FiredRule[] {
  const fired = new Map<string, FiredRule>();
  for (const type of ["deny", "ask"] as const) {
    for (const { policy, verdict } of verdicts) {
      if (verdict.type !== type) continue;
      const { rule, reason } = verdict.finding;
      const key = `${rule}\0${reason}`;
      if (!fired.has(key)) fired.set(key, { policy, rule, verdict: type, reason });
    }
  }
  return [...fired.values()];
}

function readingOf(analysis: Analysis): Reading {
  const paths: Reading["paths"][number][] = [];
  const commands: string[] = [];
  const unresolved: string[] = [];
  let readsOnly = true;
  for (const effect of analysis.effects) {
    if (effect.type === "exec") {
      for (const { raw, absolute, access } of effect.command.paths) paths.push({ raw, path: absolute, access });
      for (const { name, words, wrappers } of effect.command.commands) {
        const text = [name, ...words.map((word) => word ?? "*")].join(" ");
        commands.push(wrappers.length === 0 ? text : `${text}  (in ${wrappers.join(" ")})`);
      }
      unresolved.push(...effect.command.unresolved);
      readsOnly &&= effect.command.readsOnly;
    } else if ("path" in effect) {
      const access =
        effect.type === "write" || effect.type === "propose" ? `${effect.type} ${effect.operation}` : effect.type;
      paths.push({ raw: effect.path.raw, path: effect.path.absolute, access });
      readsOnly &&= effect.type !== "write";
    }
  }
  return { statement: analysis.statement, paths, commands, readsOnly, unresolved };
}

const plain: Redactor = {
  redact: async (text) => text,
  stream: () => ({ push: async (text) => text, end: async () => "" }),
};

const nothingRuns = (): never => {
  throw new Error("The workbench runs nothing.");
};

const noEditor = { ...editorMethods(nothingRuns), can: () => false };

const noBlobs: BlobStore = { put: nothingRuns, get: async () => undefined };
