import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { Answer, Question } from "../confirmation.ts";
import type { AllowedEndpoint, RunProgram } from "../connection.ts";
import type { Effect } from "../effect.ts";
import { endpointName, isLoopback, sameEndpoint } from "../endpoint.ts";
import type { Decision } from "../gate-journal.ts";
import { mayLast } from "../limits/laid-down.ts";
import { needsSecondPerson } from "../limits/two-persons.ts";
import { connectionRule } from "../policies/connections.ts";
import type { CallContext, ConnectionJudgement, WantedConnections } from "../tool.ts";
import { type ToolError, toolErrorFromFinding } from "../tool-error.ts";
import { askAbout, factsOf, personsAnswer, shortened } from "./confirm/ask-person.ts";
import { twoNeeded } from "./confirm/build-question.ts";
import type { LastingConnections, StandingConnection } from "./confirm/lasting-connections.ts";
import type { RememberedAnswers } from "./confirm/remembered-answers.ts";
import { type Decided, decisionOf, refusedByAnswer } from "./decide/decided-call.ts";
import { decideEffects } from "./decide-found.ts";
import type { GateOptions } from "./gate-options.ts";

/**
 * Judges what a command wants to reach, by every policy, and asks a person: one question for all of it that no standing answer
 * covers. What is let through is recorded before this resolves.
 */
export async function judgeConnections(
  { program, endpoints, lasts = false, stand = false }: WantedConnections,
  decided: Decided,
  context: CallContext,
  options: GateOptions,
): Promise<ConnectionJudgement & { readonly decision: Decision }> {
  const { journal, remembered, confirmer, redactor } = options;
  const judge = async (some: readonly AllowedEndpoint[]) =>
    decideEffects(
      {
        statement: `Let \`${program.name}\` ${asked(some)}`,
        effects: await Promise.all(some.map((endpoint) => effectOf(endpoint, program, redactor))),
        operands: { ...decided.analysis.operands, reaches: some.map(nameWithAddress).join(", ") },
      },
      decided,
      context,
      options,
    );
  const found = await judge(endpoints);
  for (const warning of found.warnings) journal.warn(warning, context.turnId);
  journal.decided(decisionOf(found, undefined), context.turnId);
  const { verdict } = found;
  if (verdict.type === "deny") return refused(toolErrorFromFinding(verdict.finding), decisionOf(found, undefined));
  const isOfTwo = needsSecondPerson(found.fired);
  // No answer of one person stands: the run asks when it gets so far.
  if (isOfTwo && stand) return refused(noStandingAnswer, decisionOf(found, undefined));
  const mayStand = !lasts && !isOfTwo && answerMayStand(program, found);
  const standing = mayStand ? await standingConnections(program, options) : [];
  const covered = endpoints.flatMap((wanted) => standing.find((one) => covers(one, wanted)) ?? []);
  const open = endpoints.filter((wanted) => !standing.some((one) => covers(one, wanted)));
  let answer: Answer = {
    type: "yes",
    scope: "session",
    by: "remembered",
    remembered: { callId: covered[0]?.callId ?? "" },
  };
  if (verdict.type === "ask" && open.length > 0) {
    const asked = open.length === endpoints.length ? found : await judge(open);
    const { question } = askAbout(asked, verdict.finding, context.turnId, options);
    const about = shortened(aboutConnections(question, { program, open, mayStand, lasts }, options), options);
    answer = await personsAnswer(about, confirmer, context.signal);
    if (answer.type !== "yes") {
      const { decision, refusal } = refusedByAnswer(found, answer, { name: "connection", outcome: "it was refused" });
      // What is sent was read for the person: the model may not see all of it.
      const wanted = named(open.map(({ sends: _read, ...endpoint }) => endpoint));
      const message = `${refusal?.error.message ?? ""} It wanted ${wanted}.`.trim();
      return refused({ code: "user_denied", retryable: false, ...refusal?.error, message }, decision);
    }
  }
  // Rules, capabilities and emergency controls may have changed meanwhile.
  const again = await judge(endpoints);
  if (again.verdict.type === "deny") {
    return refused(toolErrorFromFinding(again.verdict.finding), decisionOf(again, answer));
  }
  context.signal.throwIfAborted();
  const { callId } = context;
  const fresh = open.map((endpoint): StandingConnection => ({ ...endpoint, callId }));
  if (mayStand && answer.scope === "session") remembered.rememberConnections(program.name, fresh);
  if (mayStand && answer.scope === "workspace") await options.connections?.remember(program.name, fresh);
  const decision = decisionOf(again, answer);
  await journal.begin([decision], context.turnId);
  const by = `${answer.by === "remembered" ? "a lasting answer" : answer.by}, ${answer.scope}`;
  return {
    type: "let-through",
    decision,
    allowed: endpoints.map((endpoint) => {
      const one = covered.find((known) => covers(known, endpoint));
      return { ...endpoint, answer: one === undefined ? by : `a lasting answer, of call ${one.callId}` };
    }),
  };
}

/** What a program may reach without a question, because of a yes for the session or the workspace. */
export async function standingConnections(
  { name, lasting }: RunProgram,
  {
    remembered,
    connections,
    longestYes,
  }: Pick<GateOptions, "longestYes"> & {
    readonly remembered: RememberedAnswers;
    readonly connections?: LastingConnections | undefined;
  },
): Promise<readonly StandingConnection[]> {
  if (!lasting || !mayLast("session", longestYes)) return [];
  const kept = mayLast("workspace", longestYes) ? await connections?.find(name) : [];
  return [...remembered.connections(name), ...(kept ?? [])];
}

const noStandingAnswer: ToolError = {
  code: "nobody_to_ask",
  message: "Two persons have to agree to these connections each time.",
  retryable: false,
};

function covers(standing: StandingConnection, wanted: AllowedEndpoint): boolean {
  // A login is asked about each time.
  return wanted.login === undefined && sameEndpoint(standing, wanted) && standing.address === wanted.address;
}

/** Its `url` is recorded: what the person sees whole is masked there. */
async function effectOf(
  endpoint: AllowedEndpoint,
  { name }: RunProgram,
  redactor: GateOptions["redactor"],
): Promise<Effect> {
  const { login, sends } = endpoint;
  const used = login === undefined ? {} : { login };
  const what = sends === undefined ? "" : `${await redactor.redact(sends)} at `;
  return { type: "net", url: `${what}${endpointName(endpoint)}`, ...used, wanted: { ...endpoint, program: name } };
}

function aboutConnections(
  question: Question,
  {
    program,
    open,
    mayStand,
    lasts,
  }: {
    readonly program: RunProgram;
    readonly open: readonly AllowedEndpoint[];
    readonly mayStand: boolean;
    readonly lasts: boolean;
  },
  { connections }: GateOptions,
): Question {
  if (open.some(({ sends }) => sends !== undefined)) {
    const reached = open.filter(({ sends }) => sends === undefined);
    return {
      ...question,
      title: `Let ${program.name} ${asked(open.map(inTitle))}?`,
      impactStatement: [
        "Nothing of it was sent yet. After a yes exactly this is sent, once. It may not be possible to undo it.",
        ...(reached.length === 0
          ? []
          : [`The command could send everything that it sees of the workspace to ${named(reached)}.`]),
        ...open.flatMap(({ remark }) => remark ?? []),
        ...open.flatMap(connectionWarnings),
        ...(question.secondPerson ? [twoNeeded] : []),
      ].join(" "),
      rememberStatement: "",
      offeredScopes: ["once"],
    };
  }
  const scopes: ConfirmationScope[] = ["once"];
  if (mayStand) scopes.push("session");
  if (mayStand && connections !== undefined) scopes.push("workspace");
  return {
    ...question,
    title: `Let ${program.name} ${asked(open)}?`,
    impactStatement: [
      lasts
        ? "It was refused. After a yes the command runs in the background, and the way is open until it ends."
        : "It was refused, and nothing of that run is kept; after a yes the command runs again.",
      "If you allow it, the command could send everything there that it sees of the workspace.",
      ...open.flatMap(loginWarning),
      ...open.flatMap(connectionWarnings),
      ...(question.secondPerson ? [twoNeeded] : []),
    ].join(" "),
    rememberStatement: mayStand
      ? `A yes for this session or workspace holds for every plain \`${program.name}\`, and for exactly ${named(open)}. \`gennai answers\` lists and revokes such answers.`
      : "",
    offeredScopes: scopes,
  };
}

function loginWarning(endpoint: AllowedEndpoint): readonly string[] {
  if (endpoint.login === undefined) return [];
  const what = `Code of the workspace that runs beside it can read with it what the question names, for this one run`;
  return [
    `${what}; it never sees the login itself. What would change something at ${endpointName(endpoint)} is asked about first.`,
  ];
}

/** Warnings for the user who is asked about an endpoint, as sentences. */
export function connectionWarnings(endpoint: AllowedEndpoint): readonly string[] {
  const { host, address } = endpoint;
  if (isLoopback(endpoint)) {
    const service = `${endpointName(endpoint)} is a service on the server's own machine`;
    return [`${service}: what the command tells it to do is done outside of the sandbox.`];
  }
  if (address !== undefined) return [`${host} leads to ${address}, in the private network of the server's machine.`];
  return [];
}

function named(endpoints: readonly AllowedEndpoint[]): string {
  return endpoints.map(nameWithLogin).join(", ");
}

function asked(endpoints: readonly AllowedEndpoint[]): string {
  const sent = endpoints.filter(({ sends }) => sends !== undefined);
  const reached = endpoints.filter(({ sends }) => sends === undefined);
  return [
    ...(sent.length === 0 ? [] : [`send this: ${named(sent)}`]),
    ...(reached.length === 0 ? [] : [`reach ${named(reached)}`]),
  ].join(", and ");
}

/** What is longer is in the statement as a whole. */
function inTitle(endpoint: AllowedEndpoint): AllowedEndpoint {
  const { sends = "" } = endpoint;
  return sends.length <= maxInTitle ? endpoint : { ...endpoint, sends: `${sends.slice(0, maxInTitle)}…` };
}

const maxInTitle = 500;

function nameWithLogin(endpoint: AllowedEndpoint): string {
  const name = `${endpoint.sends === undefined ? "" : `${endpoint.sends} at `}${endpointName(endpoint)}`;
  return endpoint.login === undefined ? name : `${name} with ${endpoint.login}`;
}

function nameWithAddress(endpoint: AllowedEndpoint): string {
  const name = nameWithLogin(endpoint);
  return endpoint.address === undefined ? name : `${name} at ${endpoint.address}`;
}

function refused(error: ToolError, decision: Decision) {
  return { type: "refused", error, decision } as const;
}

/** Whether a yes to connections may apply to later runs of the program: not if another rule asks, which it does not answer. */
export function answerMayStand(program: RunProgram, found: Decided): boolean {
  return (
    program.lasting && !isAtLeast(found.risk, "high") && factsOf(found).rules.every((rule) => rule === connectionRule)
  );
}
