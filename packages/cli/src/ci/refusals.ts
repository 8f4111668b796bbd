import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type Risk, riskFromMessage } from "@gennai/protocol/model/governance/risk";
import { verdictFromMessage } from "@gennai/protocol/model/governance/tool-outcome";
import * as z from "zod";
import { relativeTo } from "./ci-policy.ts";

/** A call that was not allowed to run, or was refused a connection while it ran. Texts are written or masked by the server. */
export interface Refusal {
  readonly tool: string;
  /** Id of the rule, e.g. `floor/git-loss`. */
  readonly rule: string;
  readonly risk: Risk;
  /** True if a rule asked, and neither a user nor the policy answered. */
  readonly unanswered: boolean;
  /** Why, as the model was told. */
  readonly reason: string;
  /** What was tried, e.g. a command; empty where the server did not say. */
  readonly words: string;
  /** Relative to the workspace, with slashes: the file that the call was about. */
  readonly path: string | undefined;
  /** `file:line` of the rule; empty for one that is built in. */
  readonly place: string;
}

interface Called {
  tool: string;
  path: string | undefined;
  rule: string;
  risk: Risk;
  asked: boolean;
  reason: string;
  words: string;
  place: string;
}

const maxRefusals = 1_000;
const aboutFile = z.union([
  z.looseObject({ file_path: z.string() }).transform(({ file_path }) => file_path),
  z.looseObject({ path: z.string() }).transform(({ path }) => path),
]);

/** Gathers the refusals of a turn, sub-agents' too, from its events. */
export class Refusals {
  readonly list: Refusal[] = [];
  readonly #workspace: string;
  readonly #calls = new Map<string, Called>();

  /** @param workspace real path */
  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  add({ event }: InvokeEvent): void {
    switch (event.case) {
      case "toolCall": {
        const { id, name, argumentsJson } = event.value;
        Object.assign(this.#of(id), { tool: name, path: this.#pathIn(argumentsJson) });
        break;
      }
      case "gateDecision": {
        const { toolCallId, toolName, verdict, risk, rule, reason } = event.value;
        const asked = verdictFromMessage(verdict) === "ask";
        Object.assign(this.#of(toolCallId), { tool: toolName, rule, risk: riskFromMessage(risk), asked, reason });
        break;
      }
      case "ruleViolation": {
        const { toolCallId, words, place } = event.value;
        Object.assign(this.#of(toolCallId), { words, place });
        break;
      }
      case "toolResult": {
        const { id, error, failureClass } = event.value;
        if (failureClass !== FailureClass.PERMISSION_DENIED || this.list.length >= maxRefusals) break;
        const { asked, reason, ...call } = this.#of(id);
        this.list.push({ ...call, unanswered: asked, reason: error === "" ? reason : error });
        break;
      }
      default:
        break;
    }
  }

  #of(id: string): Called {
    const known = this.#calls.get(id);
    if (known !== undefined) return known;
    const made: Called = {
      tool: "",
      path: undefined,
      rule: "gate",
      risk: "low",
      asked: false,
      reason: "",
      words: "",
      place: "",
    };
    this.#calls.set(id, made);
    return made;
  }

  #pathIn(argumentsJson: string): string | undefined {
    try {
      const { data } = aboutFile.safeParse(JSON.parse(argumentsJson));
      return data === undefined ? undefined : relativeTo(this.#workspace, data);
    } catch {
      return undefined;
    }
  }
}
