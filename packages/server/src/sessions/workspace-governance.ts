import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import { IntentMap } from "../intents/intent-map.ts";
import { IntentsService } from "../intents/intents-service.ts";
import { RulesService } from "../rules/rules-service.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What governs one workspace, shared by all of its sessions. */
export interface WorkspaceGovernance {
  readonly intents: IntentsService;
  readonly intentMap: IntentMap;
  readonly rules: RulesService;
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

  of(workspace: Workspace): Promise<WorkspaceGovernance> {
    const known = this.#open.get(workspace);
    if (known !== undefined) return known;
    const opening = this.#openFor(workspace);
    this.#open.set(workspace, opening);
    opening.catch(() => this.#open.delete(workspace));
    return opening;
  }

  async #openFor(workspace: Workspace): Promise<WorkspaceGovernance> {
    const { stateDir, home, onWarning, onRules } = this.#options;
    return {
      intents: IntentsService.open({ workspace, stateDir }),
      intentMap: this.#parts.use(new IntentMap({ workspace, onWarning })),
      rules: this.#parts.use(
        await RulesService.open({ root: workspace.root, home, onChange: (status) => onRules(workspace.root, status) }),
      ),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
