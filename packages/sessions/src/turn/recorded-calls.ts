import type { Connection } from "@gennai/governance/connection";
import type { Effect } from "@gennai/governance/effect";
import type { CallOutcome, Decision } from "@gennai/governance/gate-journal";
import type { LedgerCall, LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { RefMove } from "@gennai/governance/tool";
import { sha256Hex } from "@gennai/protocol/digest";
import { isToolFact } from "../tools/tool-fact.ts";

/** True for a call that only reads files or their names, without a question. */
export function onlyReads({ effects, confirmation }: Decision): boolean {
  return confirmation === undefined && effects.length > 0 && effects.every(({ type }) => reading.has(type));
}

const reading: ReadonlySet<Effect["type"]> = new Set(["read", "list", "search"]);

/** Calls as the model wrote them, if different from what is recorded. */
export function asCalled(decisions: readonly Decision[]): LedgerEntry["details"] {
  const made = decisions.flatMap(({ call, asCalled: words }) =>
    words === undefined ? [] : [[call.id, words] as const],
  );
  return made.length === 0 ? {} : { as_called: Object.fromEntries(made) };
}

export function intentCall(decision: Decision): LedgerCall {
  const { call, input, verdict, rule, risk, confirmation } = decision;
  return {
    callId: call.id,
    tool: call.name,
    input,
    verdict,
    rule,
    risk,
    ...reachesOf(decision),
    ...(confirmation === undefined ? {} : { confirmation: recordedAnswer(confirmation) }),
  };
}

/** Network endpoints that were decided on. */
function reachesOf({ effects }: Decision): Pick<LedgerCall, "reaches"> {
  const reaches = effects.flatMap((effect) => (effect.type === "net" ? [effect.url] : []));
  return reaches.length === 0 ? {} : { reaches };
}

function recordedAnswer({
  rememberedFrom,
  ...answer
}: NonNullable<Decision["confirmation"]>): NonNullable<LedgerCall["confirmation"]> {
  return { ...answer, ...(rememberedFrom === undefined ? {} : { remembered_from: rememberedFrom }) };
}

export function outcomeCall({
  decision,
  result,
}: {
  readonly decision: Decision;
  readonly result: CallOutcome;
}): LedgerCall {
  return {
    ...intentCall(decision),
    ...alsoAsked(decision),
    started: new Date(result.startedAt).toISOString(),
    stopped: new Date(result.endedAt).toISOString(),
    ...(result.outcome?.exitCode === undefined ? {} : { exitCode: result.outcome.exitCode }),
    ...(result.failureClass === undefined ? {} : { failureClass: result.failureClass }),
    verification: result.verification.state,
    ...(result.outcome?.refs === undefined ? {} : { refs: recordedMoves(result.outcome.refs) }),
    ...recordedConnections(result.connections),
  };
}

export function recordedConnections(connections: readonly Connection[] = []): Pick<LedgerCall, "connections"> {
  return connections.length === 0 ? {} : { connections };
}

/** Entries of the index beyond this are recorded by their number and digest. */
const maxEntries = 100;

/** @returns the moves, for the ledger in the workspace, which would else have a line for each staged file of a large merge */
function recordedMoves(moves: readonly RefMove[]): readonly RefMove[] {
  const entries = moves.filter(({ name }) => name.startsWith(":"));
  if (entries.length <= maxEntries) return moves;
  const to = `sha256 ${sha256Hex(JSON.stringify(entries))}`;
  return [...moves.filter(({ name }) => !name.startsWith(":")), { name: `:/ (${entries.length} entries)`, to }];
}

function alsoAsked({ alsoAsked: others = [] }: Decision): Pick<LedgerCall, "alsoAsked"> {
  const asked = others.flatMap((other) => {
    const { verdict, rule, risk, confirmation } = other;
    if (confirmation === undefined) return [];
    return [{ verdict, rule, risk, ...reachesOf(other), confirmation: recordedAnswer(confirmation) }];
  });
  return asked.length === 0 ? {} : { alsoAsked: asked };
}

/** Who answered the model's questions, by call. */
export function askedUser(ran: readonly { readonly result: CallOutcome }[]): LedgerEntry["details"] {
  const asked = ran.flatMap(({ result }) =>
    (result.outcome?.facts ?? []).flatMap((fact) =>
      isToolFact(fact) && fact.type === "user-asked" ? [[result.call.id, { end: fact.end, by: fact.by }] as const] : [],
    ),
  );
  return asked.length === 0 ? {} : { user_asked: Object.fromEntries(asked) };
}
