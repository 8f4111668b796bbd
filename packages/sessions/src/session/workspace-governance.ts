import { gitContentsGuard, gitElsewhere } from "@gennai/git/secrets/contents-guard";
import { HistorySecrets } from "@gennai/git/secrets/history-secrets";
import type { Limits } from "@gennai/governance/limits/limits";
import type { GitContentsPorts } from "@gennai/governance/policies/git-contents";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { IntentMap } from "../intents/intent-map.ts";
import { IntentsService } from "../intents/intents-service.ts";
import { RulesService } from "../rules/rules-service.ts";

/** What governs one workspace, shared by all its sessions. */
export interface WorkspaceGovernance {
  readonly intents: IntentsService;
  readonly intentMap: IntentMap;
  readonly rules: RulesService;
  /** What git would print of files that only the user may read. */
  readonly gitContents: GitContentsPorts;
  /** Secrets in git's history; undefined if a client holds the files. */
  readonly historySecrets: HistorySecrets | undefined;
}

export interface GovernanceRegistryOptions {
  readonly stateDir: string;
  readonly home: string;
  /** The limits in force, which may bring rules, or require intents; asked whenever a session asks for what governs it. */
  readonly limits: () => Promise<Limits>;
  readonly onWarning: (text: string) => void;
  /** Called after the rules of a workspace or their problems changed, and if there are problems at the beginning. */
  readonly onRules: (workspaceRoot: string, status: RulesStatus) => void;
}

/** Opened on first use by a session of the workspace; disposing writes pending data and closes all. */
export class GovernanceRegistry implements AsyncDisposable {
  readonly #options: GovernanceRegistryOptions;
  readonly #open = new Map<Workspace, Promise<OpenGovernance>>();

  constructor(options: GovernanceRegistryOptions) {
    this.#options = options;
  }

  async of(workspace: Workspace): Promise<WorkspaceGovernance> {
    const known = this.#open.get(workspace);
    if (known !== undefined) {
      await workspace.syncControl({ maxAgeMs: 1000 });
      return this.#limited((await known).governance);
    }
    const opening = this.#openFor(workspace);
    this.#open.set(workspace, opening);
    opening.catch(() => this.#open.delete(workspace));
    return this.#limited((await opening).governance);
  }

  async #limited(governance: WorkspaceGovernance): Promise<WorkspaceGovernance> {
    const limits = await this.#options.limits();
    governance.intents.lay(limits);
    await governance.rules.lay(limits);
    return governance;
  }

  /** Closes the governance of a workspace that is not in use. It is opened again when needed. */
  async release(workspace: Workspace): Promise<void> {
    const opening = this.#open.get(workspace);
    this.#open.delete(workspace);
    const open = await opening?.catch(() => undefined);
    await open?.[Symbol.asyncDispose]();
  }

  async #openFor(workspace: Workspace): Promise<OpenGovernance> {
    await workspace.syncControl();
    const { stateDir, home, onWarning, onRules } = this.#options;
    await using parts = new AsyncDisposableStack();
    const rules = parts.use(
      await RulesService.open({
        root: workspace.root,
        controlRoot: workspace.controlRoot,
        home,
        ...(workspace.client === undefined ? {} : { homeThere: workspace.client.home }),
        onChange: (status) => onRules(workspace.place, status),
      }),
    );
    const governance = {
      rules,
      gitContents: workspace.client === undefined ? gitContentsGuard(() => rules.current()) : gitElsewhere,
      historySecrets:
        workspace.client === undefined ? new HistorySecrets(workspace.root, home, () => rules.current()) : undefined,
      intents: IntentsService.open({ workspace, stateDir }),
      intentMap: parts.use(new IntentMap({ workspace, onWarning })),
    };
    const owned = parts.move();
    return { governance, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.keys()].map((workspace) => this.release(workspace)));
  }
}

interface OpenGovernance extends AsyncDisposable {
  readonly governance: WorkspaceGovernance;
}
