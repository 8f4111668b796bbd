import type { JsonObject } from "@bufbuild/protobuf";
import type { GovernanceClient } from "@gennai/client/connection/connection";
import { recordedBy, recordsInShort } from "./guarded-records.ts";

/** Claude Code, as far as its hook shows it. */
export class HookedAgent {
  readonly #root: string;
  readonly #session: string;
  #calls = 0;
  readonly governance;

  /** @param server.workspace where the agent works */
  constructor(
    server: { readonly workspace: { readonly root: string }; readonly governance: GovernanceClient },
    session = "s1",
  ) {
    this.#root = server.workspace.root;
    this.#session = session;
    this.governance = server.governance;
  }

  async tell(hook_event_name: string, more: JsonObject = {}): Promise<JsonObject | undefined> {
    const root = this.#root;
    const payload = { session_id: this.#session, cwd: root, hook_event_name, ...more };
    return (await this.governance.guardCall({ host: "claude-code", workingDir: root, payload })).answer;
  }

  /** What the hook answers, in a word and its reason. */
  async wants(tool_name: string, tool_input: JsonObject, id = `c${++this.#calls}`) {
    const answer = await this.tell("PreToolUse", { tool_name, tool_input, tool_use_id: id });
    const decision = (answer?.["hookSpecificOutput"] ?? {}) as Readonly<Record<string, string>>;
    return {
      id,
      goesOn: answer?.["continue"] !== false,
      says: decision["permissionDecision"] ?? "goes its own way",
      reason: decision["permissionDecisionReason"] ?? "",
    };
  }

  async did(tool_use_id: string, error?: string): Promise<JsonObject | undefined> {
    const event = error === undefined ? "PostToolUse" : "PostToolUseFailure";
    return this.tell(event, { tool_use_id, ...(error === undefined ? {} : { error }) });
  }

  readonly metadata = () => recordedBy(this.governance);
  readonly records = () => recordsInShort(this.governance);
}
