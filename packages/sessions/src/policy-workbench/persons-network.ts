import type { AllowedEndpoint, Connection } from "@gennai/governance/connection";
import { type Endpoint, endpointName, sameEndpoint } from "@gennai/governance/endpoint";
import type { DecideOptions } from "@gennai/governance/gate/decide/decided-call";
import { type Decided, decisionOf } from "@gennai/governance/gate/decide/decided-call";
import { decideEffects } from "@gennai/governance/gate/decide-found";
import { answerMayStand, connectionWarnings } from "@gennai/governance/gate/judge-connections";
import { switchesLimit } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import type { Policy } from "@gennai/governance/policy";
import type { CallContext, NetworkPermission, WantedConnections } from "@gennai/governance/tool";
import { EmergencyHere } from "../rules/emergency-here.ts";
import { AcceptedConnections } from "../rules/workspace-answers.ts";

/** What a person's own command wants to reach. */
export interface WantedNetwork {
  /** Program and verb, e.g. `npm install`. */
  readonly program: string;
  /** `HOST:PORT`, each once. */
  readonly endpoints: readonly string[];
  /** Warnings about them, as sentences. */
  readonly warnings: readonly string[];
  /** A yes may apply to all such commands in the workspace. */
  readonly mayStand: boolean;
}

export type NetworkAnswer = "once" | "workspace" | "no";

export interface PersonsNetwork {
  /** Allowed without a question, unless a name turns out to be in the machine's own networks. */
  readonly allow?: readonly Endpoint[];
  /** Without it, no question is possible. */
  readonly ask?: (wanted: WantedNetwork) => Promise<NetworkAnswer>;
  /** What to do to allow these `HOST:PORT`s, if no question is possible. */
  readonly otherwise?: (endpoints: readonly string[]) => string;
  /** Real path of the workspace whose lasting answers apply; default: the command's. */
  readonly answersOf?: string;
}

interface Place {
  readonly decided: Decided;
  readonly context: CallContext;
  readonly options: Omit<DecideOptions, "tools">;
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly toolVersion: string;
  readonly onWarning: (text: string) => void;
  /** Called before anything is allowed; rejects if it cannot be recorded. */
  record(reaches: readonly string[], by: string): Promise<void>;
  reached(connections: readonly Connection[]): void;
}

/** What a user's own command may reach: by its options, by lasting answers, or by a question. */
export function personsNetwork(
  { allow = [], ask, otherwise, answersOf }: PersonsNetwork,
  { decided, context, options, stateDir, workspaceRoot, record, reached, ...here }: Place,
): NetworkPermission {
  const answers = new AcceptedConnections(stateDir, answersOf ?? workspaceRoot);
  const standing: NetworkPermission["standing"] = ({ name, lasting }) =>
    lasting ? answers.find(name) : Promise.resolve([]);
  const letThrough = async ({ program, endpoints }: WantedConnections) => {
    const effects = endpoints.map((endpoint) => {
      return { type: "net", url: endpointName(endpoint), wanted: { ...endpoint, program: program.name } } as const;
    });
    const statement = `Let \`${program.name}\` reach ${endpoints.map(endpointName).join(", ")}`;
    const policies = [...options.policies, await emergencyPolicy(stateDir, here)];
    const found = await decideEffects({ statement, effects, operands: {} }, decided, context, { ...options, policies });
    // A lasting answer does not override a rule or an emergency control.
    const stands = found.verdict.type === "deny" ? [] : await standing(program);
    const isOpen = (wanted: AllowedEndpoint): boolean =>
      !(wanted.address === undefined && allow.some((one) => sameEndpoint(one, wanted))) &&
      !stands.some((one) => sameEndpoint(one, wanted) && one.address === wanted.address);
    const open = endpoints.filter(isOpen);
    const mayStand = answerMayStand(program, found);
    const named = open.map(endpointName);
    let answer: NetworkAnswer = "once";
    if (open.length > 0) {
      const said =
        found.verdict.type === "allow" ? [] : [`A session would get this answer: ${found.verdict.finding.reason}`];
      const warnings = [...open.flatMap(connectionWarnings), ...said];
      answer = (await ask?.({ program: program.name, endpoints: named, warnings, mayStand })) ?? "no";
      context.signal.throwIfAborted();
    }
    if (answer === "no") {
      const message = `It wanted ${named.join(", ")}, and ${ask === undefined ? "nobody could be asked" : "you said no"}.`;
      const hint = ask === undefined ? otherwise?.(named) : undefined;
      return {
        type: "refused",
        error: { code: "user_denied", message, retryable: false, ...(hint === undefined ? {} : { hint }) },
        decision: decisionOf(found, undefined),
      } as const;
    }
    const by = open.length === 0 ? "said before" : answer;
    await record(endpoints.map(endpointName), by);
    if (answer === "workspace" && mayStand) {
      await answers.remember(
        program.name,
        open.map((endpoint) => ({ ...endpoint, callId: "" })),
      );
    }
    return { type: "let-through", allowed: endpoints.map((one) => ({ ...one, answer: `a person, ${by}` })) } as const;
  };
  return {
    standing: async (program) => [...allow, ...(await standing(program))],
    letThrough,
    reached: async (connections) => reached(connections),
  };
}

/** Policy with the current emergency controls of this state directory. */
async function emergencyPolicy(
  stateDir: string,
  here: { readonly toolVersion: string; readonly onWarning: (text: string) => void },
): Promise<Policy> {
  await using controls = await EmergencyHere.open(stateDir, here);
  const { state } = controls.report(0);
  return createLimitsPolicy({ current: () => [switchesLimit(state)] });
}
