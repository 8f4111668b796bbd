import { homedir } from "node:os";
import { decideCall } from "@gennai/governance/gate/decide-call";
import { createIntentsPolicy } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import { createGitContentsPolicy } from "@gennai/governance/policies/git-contents";
import type { Policy } from "@gennai/governance/policy";
import type { Redactor } from "@gennai/governance/redaction";
import { ruleVerdicts } from "@gennai/governance/rules/rules-policy";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { Tool } from "@gennai/governance/tool";
import { allow, strictest, type Verdict } from "@gennai/governance/verdict";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { gitContentsGuard } from "@gennai/machine/git/contents-guard";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { SandboxMode } from "@gennai/machine/sandbox/sandbox";
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
import { decideLines, type LineAnswer } from "./decide-lines.ts";
import { ReadAlready } from "./read-already.ts";
import { replayLedger } from "./replay-ledger.ts";
import { isSandboxedHere } from "./sandboxed-here.ts";
import { namedCall } from "./tool-input.ts";
import { allVerdicts, type FiredRule, firedRules, type Reading, readingOf } from "./workbench-report.ts";

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
   * Commands are judged as in a session of a server that is started here with this mode, in Branch Mode on the branch that
   * is checked out; `off` by default.
   */
  readonly sandbox?: SandboxMode;
  /** Of the process that the server would be. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
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

/** One call of the past that today's rules judge. */
export interface ReplayedCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  /** As recorded: canonical JSON, redacted. */
  readonly input: string;
  readonly past: { readonly verdict: WorkbenchReport["verdict"]; readonly rule: string };
  readonly today: {
    readonly verdict: WorkbenchReport["verdict"];
    readonly rule: string;
    readonly reason: string;
    readonly risk: Risk;
  };
  readonly differs: boolean;
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
  readonly #stateDir: string;
  readonly #found: Map<string, readonly Verdict[]>;
  readonly rules: RulesService;
  /** Real path. */
  readonly root: string;
  readonly #closed = new AbortController();
  #count = 0;

  /**
   * Rejects with `WorkspaceError` for a directory that can be none, `ServiceError` for a project configuration that is bad,
   * and `SandboxRequired` where that server would.
   */
  static async open(options: WorkbenchOptions): Promise<PolicyWorkbench> {
    const home = options.home ?? homedir();
    const { stateDir, sandbox = "off", environment = {} } = options;
    const sandboxed = await isSandboxedHere(sandbox, { stateDir, environment });
    const workspace = openLocalWorkspace(options.workspace, { stateDir, home });
    const config = await loadProjectConfig(workspace.root);
    const rules = await RulesService.open({ root: workspace.root, home, configDir: options.configDir });
    const intents = IntentsService.open({ workspace, stateDir });
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
      controlWatch: { begin: nothingRuns, turn: nothingRuns },
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
    const ownDirectories = [stateDir];
    const { root } = workspace;
    const { protectedBranches } = config;
    const onOwnBranch = (): boolean =>
      isOwnBranch(branchState({ controlRoot: root, sessionBranch: undefined, protectedBranches }));
    const commands = { sandboxed, mode: "branch", root, onOwnBranch } as const;
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
      stateDir,
      home,
      found,
    });
  }

  private constructor(parts: {
    readonly tools: ReadonlyMap<string, Tool>;
    readonly policies: readonly Policy[];
    readonly rules: RulesService;
    readonly root: string;
    readonly stateDir: string;
    readonly home: string;
    readonly found: Map<string, readonly Verdict[]>;
  }) {
    this.#tools = parts.tools;
    this.#policies = parts.policies;
    this.rules = parts.rules;
    this.root = parts.root;
    this.#stateDir = parts.stateDir;
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
      allVerdicts(policy, verdict, found, decided.analysis).map((each) => ({ policy, verdict: each })),
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

  /**
   * Answers one `{id, tool, input}` a line, in order. A line that is no such call is answered with a deny that says why;
   * blank lines are passed over.
   */
  decideLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<LineAnswer, void, undefined> {
    return decideLines(input, this);
  }

  /**
   * Judges the calls in the workspace's ledger by today's rules, each call once. Rejects with `ServiceError` `not_found`
   * where there is no ledger.
   */
  replay(): AsyncGenerator<ReplayedCall, void, undefined> {
    return replayLedger({ workspaceRoot: this.root, stateDir: this.#stateDir }, this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.rules[Symbol.asyncDispose]();
  }
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
