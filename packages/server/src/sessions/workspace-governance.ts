import type { GitContentsPorts } from "@gennai/governance/policies/git-contents";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import { gitContentsGuard, gitElsewhere } from "../git/contents-guard.ts";
import { IntentMap } from "../intents/intent-map.ts";
import { IntentsService } from "../intents/intents-service.ts";
import { RulesService } from "../rules/rules-service.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What governs one workspace, shared by all of its sessions. */
export interface WorkspaceGovernance {
  readonly intents: IntentsService;
  readonly intentMap: IntentMap;
  readonly rules: RulesService;
  /** What git would print of files that nobody but the user reads. */
  readonly gitContents: GitContentsPorts;
}

export interface GovernanceRegistryOptions {
  readonly stateDir: string;
  readonly home: string;
  readonly onWarning: (text: string) => void;
  /** Told after the rules of a workspace, their problems, or the last violation changed. */
  readonly onRules: (workspaceRoot: string, status: RulesStatus) => void;
}

/** Opened when a session of the workspace first asks; disposing writes what is noted and closes all. */
export class GovernanceRegistry implements AsyncDisposable {
  readonly #options: GovernanceRegistryOptions;
  readonly #open = new Map<Workspace, Promise<WorkspaceGovernance>>();
  readonly #parts = new AsyncDisposableStack();

  constructor(options: GovernanceRegistryOptions) {
    this.#options = options;
  }

  async of(workspace: Workspace): Promise<WorkspaceGovernance> {
    const known = this.#open.get(workspace);
    if (known !== undefined) {
      await workspace.syncControl({ maxAgeMs: 1000 });
      return known;
    }
    const opening = this.#openFor(workspace);
    this.#open.set(workspace, opening);
    opening.catch(() => this.#open.delete(workspace));
    return opening;
  }

  async #openFor(workspace: Workspace): Promise<WorkspaceGovernance> {
    await workspace.syncControl();
    const { stateDir, home, onWarning, onRules } = this.#options;
    const rules = this.#parts.use(
      await RulesService.open({
        root: workspace.root,
        controlRoot: workspace.controlRoot,
        home,
        ...(workspace.client === undefined ? {} : { homeThere: workspace.client.home }),
        onChange: (status) => onRules(workspace.place, status),
      }),
    );
    return {
      rules,
      gitContents: workspace.client === undefined ? gitContentsGuard(() => rules.current()) : gitElsewhere,
      intents: IntentsService.open({ workspace, stateDir }),
      intentMap: this.#parts.use(new IntentMap({ workspace, onWarning })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
