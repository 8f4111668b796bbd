import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { type Endpoint, parseEndpoint, sameEndpoint } from "@gennai/governance/endpoint";
import { connectionRule } from "@gennai/governance/policies/connections";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { z } from "zod";

const connectionAction = z.object({ operands: z.object({ reaches: z.string().min(1) }) });

/**
 * Answers a question by `--allow HOST:PORT`: yes for this once, if the command wants nothing else and no other rule asks;
 * undefined if the option does not settle the question. A name that leads into the machine's own networks is asked about by its
 * address, which such an option does not cover.
 */
export function answeredAhead(
  { computed, actionJson }: Pick<ConfirmationQuestion, "computed" | "actionJson">,
  allow: readonly Endpoint[],
): ConfirmationReply | undefined {
  if (allow.length === 0 || computed.rule !== connectionRule || isAtLeast(computed.risk, "high")) return undefined;
  const { data } = connectionAction.safeParse(JSON.parse(actionJson));
  const isAllowed = (text: string): boolean => {
    const wanted = parseEndpoint(text);
    return wanted !== undefined && allow.some((one) => sameEndpoint(one, wanted));
  };
  return data?.operands.reaches.split(", ").every(isAllowed) === true ? { answer: "yes", scope: "once" } : undefined;
}
