import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Outside } from "@gennai/egress/network/way-out";
import { gitContentsGuard } from "@gennai/git/secrets/contents-guard";
import type { FileBase } from "@gennai/governance/effect";
import type { CallRunner } from "@gennai/governance/gate/decide/call-runner";
import type { DecideOptions } from "@gennai/governance/gate/decide/decided-call";
import { decideCall } from "@gennai/governance/gate/run-calls";
import { createIntentsPolicy } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import { managedBranches } from "@gennai/governance/limits/laid-down";
import { type Limits, noLimits } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import { needingTwoPersons } from "@gennai/governance/limits/two-persons";
import type { Policy } from "@gennai/governance/policy";
import type { Redactor } from "@gennai/governance/redaction";
import { ruleVerdicts, together } from "@gennai/governance/rules/rules-policy";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { CallContext } from "@gennai/governance/tool";
import type { Verdict } from "@gennai/governance/verdict";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { ServiceError } from "@gennai/machine/service-error";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { editorMethods } from "@gennai/protocol/model/session/editor-messages";
import { recoverChanges } from "@gennai/shell/stages/recover-changes";
import type { PersonsLedgerOptions } from "@gennai/store/ledger/persons-ledger";
import type { BlobStore } from "@gennai/store/log/session-log";
import { IntentsService } from "../intents/intents-service.ts";
import { workPolicies } from "../policies/call-policies.ts";
import { zeroAccessOf } from "../policies/zero-access.ts";
import { RulesService } from "../rules/rules-service.ts";
import { KnownFiles } from "../session/state/known-files.ts";
import { maxFileBytes } from "../tools/text-limits.ts";
import { createTools } from "../turn/tool-set.ts";
import { type CommandsHere, commandsHere } from "./commands-here.ts";
import { decidableCalls } from "./decidable-calls.ts";
import { decideLines, type LineAnswer } from "./decide-lines.ts";
import { replayLedger } from "./replay-ledger.ts";
import { namedCall } from "./tool-input.ts";
import { type Trial, type TrialOptions, tryCommand } from "./try-command.ts";
import { type ReplayedCall, reportOf, type WorkbenchReport } from "./workbench-report.ts";

export interface WorkbenchOptions {
  readonly workspace: string;
  /** The server's state directory, which must not be in a workspace. */
  readonly stateDir: string;
  /** Home directory for `~` and the user's rules; default: that of the process. */
  readonly home?: string;
  /** `$XDG_CONFIG_HOME`, if `home` is not set. */
  readonly configDir?: string | undefined;
  /** The intent assumed to be selected; without one, intents are not judged. */
  readonly intent?: string;
  /** What nobody here can lift. */
  readonly limits?: Limits;
  /**
   * Commands are judged as in a session of a server started here with these modes, in Branch Mode on the current branch;
   * default `off`.
   */
  readonly commands?: CommandsMode;
  /** Environment of the assumed server process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Version of Gennai, for the record of what the user keeps. */
  readonly toolVersion?: string;
  /** The network of this machine, by default. */
  readonly outside?: Outside | undefined;
  /** Called if part of that record could not be written. */
  readonly onWarning?: (text: string) => void;
}

/** What `open` puts together. */
interface WorkbenchParts extends Pick<DecideOptions, "tools" | "policies"> {
  readonly runner: Pick<CallRunner, "analyse">;
  readonly rules: RulesService;
  readonly here: CommandsHere;
  readonly environment: Readonly<Record<string, string>>;
  readonly owned: AsyncDisposableStack;
  readonly home: string;
  /** All verdicts of rule files, by the id of the call that is being decided. */
  readonly found: Map<string, readonly Verdict[]>;
  readonly intentsIgnored: boolean;
  readonly ledger: PersonsLedgerOptions;
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
 * All tools and policies of a workspace, for asking for their verdicts. Only tried commands run; only what a user chose is kept
 * and recorded; external hook programs are not started.
 */
export class PolicyWorkbench implements AsyncDisposable {
  readonly #parts: WorkbenchParts;
  readonly #closed = new AbortController();
  #count = 0;

  /**
   * Rejects with `WorkspaceError` for an unsuitable directory, `ServiceError` for an invalid project configuration,
   * `SandboxRequired` as that server would.
   */
  static async open(options: WorkbenchOptions): Promise<PolicyWorkbench> {
    const home = options.home ?? homedir();
    const { stateDir, environment = {} } = options;
    await using parts = new AsyncDisposableStack();
    const workspace = openLocalWorkspace(options.workspace, { stateDir, home });
    const here = parts.use(
      await commandsHere(workspace.root, {
        commands: options.commands ?? "ask",
        stateDir,
        environment,
        outside: options.outside,
      }),
    );
    const config = await loadProjectConfig(workspace.root);
    const rules = parts.use(await RulesService.open({ root: workspace.root, home, configDir: options.configDir }));
    const { limits = noLimits } = options;
    await rules.lay(limits);
    const intents = IntentsService.open({ workspace, stateDir }).lay(limits);
    const knownFiles = new ReadAlready(workspace.root);
    const tools = createTools({
      workspace,
      editor: noEditor,
      knownFiles,
      blobs: noBlobs,
      outputs: { text: async () => undefined },
      todos: { read: () => [] },
      intents,
      activeIntent: () => options.intent,
      home,
      environment: commandEnvironment({}),
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
        return together(verdicts);
      },
    };
    const { root } = workspace;
    const protectedBranches = [...config.protectedBranches, ...managedBranches(limits)];
    const { covers } = zeroAccessOf(await rules.current(), root);
    return new PolicyWorkbench({
      tools,
      runner: decidableCalls({ workspace, knownFiles, staged: here.stages !== undefined }),
      policies: needingTwoPersons(
        [
          createLimitsPolicy({ current: () => limits }),
          rulesPolicy,
          ...(options.intent === undefined ? [] : await intentPolicies(workspace.root, intents, options.intent)),
          ...workPolicies({
            workspace,
            config,
            ownDirectories: [stateDir],
            rules,
            place: { controlRoot: root, sessionBranch: undefined, protectedBranches },
            isZeroAccess: covers,
            gitContents: gitContentsGuard(() => rules.current()),
          }),
        ],
        // As on a server of one user.
        { current: () => limits, second: "unavailable" },
      ),
      rules,
      here,
      environment: commandEnvironment(environment),
      owned: parts.move(),
      home,
      found,
      intentsIgnored: options.intent === undefined && (await intents.status()).on,
      ledger: {
        stateDir,
        workspaceRoot: workspace.root,
        toolVersion: options.toolVersion,
        onWarning: options.onWarning ?? (() => undefined),
      },
    });
  }

  private constructor(parts: WorkbenchParts) {
    this.#parts = parts;
  }

  /** Real path. */
  get root(): string {
    return this.#parts.ledger.workspaceRoot;
  }

  get rules(): RulesService {
    return this.#parts.rules;
  }

  get status(): RulesStatus {
    return this.rules.status();
  }

  /** Changes need an intent here, and none was given: intents are not judged. */
  get intentsIgnored(): boolean {
    return this.#parts.intentsIgnored;
  }

  /** The user's home directory, as used by rules. */
  get home(): string {
    return this.#parts.home;
  }

  /** Why commands are not staged here; undefined if they are. */
  get unstaged(): string | undefined {
    return this.#parts.here.unstaged;
  }

  /** @param tool one of our names or another agent's, see `namedCall` */
  async decide(tool: string, input: Readonly<Record<string, unknown>>): Promise<WorkbenchReport> {
    return (await this.#decide(tool, input)).report;
  }

  /**
   * Runs a shell command that no rule refuses on a stage, reports its changes and the rules' verdicts on them, and drops all
   * except what is chosen. `trial` is undefined if it is refused; `options.evenIfRefused`: a user's own command may run anyway,
   * because it does no harm there. Rejects with `ServiceError` `failed_precondition` if nothing can be staged.
   */
  async try(
    command: string,
    { evenIfRefused = false, ...trial }: TrialOptions & { readonly evenIfRefused?: boolean } = {},
  ): Promise<{ readonly report: WorkbenchReport; readonly trial: Trial | undefined }> {
    const { report, decided, context } = await this.#decide("Bash", { command });
    const { here, environment, ledger } = this.#parts;
    const { stages, unstaged = "" } = here;
    if (decided.type === "invalid" || (report.verdict === "deny" && !evenIfRefused))
      return { report, trial: undefined };
    if (stages === undefined) {
      throw new ServiceError(
        "failed_precondition",
        `The command is not tried: nothing is staged here, because ${unstaged}`,
      );
    }
    const support = trial.agent === undefined ? undefined : await stages.support(this.root);
    if (support?.state === "staged" && support.noOverlay !== undefined) {
      const { reason, advice } = support.noOverlay;
      throw new ServiceError("failed_precondition", `An agent needs overlays for its own files: ${reason}`, {
        hint: advice,
      });
    }
    // Cleans up after killed processes; the work of living ones is left alone.
    await recoverChanges(stages.stateDir);
    const surroundings = {
      stages,
      workspaceRoot: this.root,
      environment,
      zeroAccess: zeroAccessOf(await this.rules.current(), this.root),
    };
    const signal = trial.signal === undefined ? context.signal : AbortSignal.any([context.signal, trial.signal]);
    const options = { ...this.#options(), context: { ...context, signal }, trial, ledger };
    return { report, trial: await tryCommand(decided, surroundings, options) };
  }

  #options(): Omit<DecideOptions, "tools"> {
    return { policies: this.#parts.policies, redactor: plain, sessionId: "policy-workbench", policyTimeoutMs: 5_000 };
  }

  async #decide(tool: string, input: Readonly<Record<string, unknown>>) {
    const { name, input: args } = namedCall(tool, input);
    const id = `check-${++this.#count}`;
    const context: CallContext = { callId: id, turnId: id, signal: this.#closed.signal };
    const call = { id, name, argumentsJson: JSON.stringify(args) };
    const decided = await decideCall(call, context, {
      tools: this.#parts.tools,
      runner: this.#parts.runner,
      ...this.#options(),
    });
    const found = this.#parts.found.get(id) ?? [];
    this.#parts.found.delete(id);
    return { report: reportOf(name, decided, { found, workspaceRoot: this.root }), decided, context };
  }

  /**
   * Answers one `{id, tool, input}` per line, in order. An invalid line is answered with a deny and the reason; blank lines are
   * skipped.
   */
  decideLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<LineAnswer, void, undefined> {
    return decideLines(input, this);
  }

  /**
   * Judges each call in the workspace's ledger by today's rules. Rejects with `ServiceError` `not_found` if there is no ledger.
   */
  replay(): AsyncGenerator<ReplayedCall, void, undefined> {
    return replayLedger({ workspaceRoot: this.root, stateDir: this.#parts.ledger.stateDir }, this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#parts.owned[Symbol.asyncDispose]();
  }
}

// Replacements for what a session has and the workbench does not: an editor, a content store, masking.

const plain: Redactor = {
  redact: async (text) => text,
  stream: () => ({ push: async (text) => text, end: async () => "" }),
};

const nothingRuns = (): never => {
  throw new Error("The workbench runs nothing.");
};

const noEditor = { ...editorMethods(nothingRuns), can: () => false };

const noBlobs: BlobStore = { put: nothingRuns, get: async () => undefined };

/** A session that has just read every file: for decisions that ignore freshness. */
class ReadAlready extends KnownFiles {
  readonly #root: string;

  constructor(root: string) {
    super();
    this.#root = root;
  }

  override base(path: string): FileBase | undefined {
    try {
      const file = join(this.#root, path);
      const stat = statSync(file);
      if (!stat.isFile() || stat.size > maxFileBytes) return undefined;
      return { source: "disk", sha256: createHash("sha256").update(readFileSync(file)).digest("hex") };
    } catch {
      return undefined;
    }
  }
}
