import type { ServerLog } from "@gennai/machine/server-log";
import { Allowance } from "../admission/allowance.ts";
import type { TokenJudgement, TokenVerifier } from "./token-verifier.ts";

/** Says in the log why tokens are refused, not too often: anyone who sends them learns only that they are. */
export function reportedVerifier(verifier: TokenVerifier, log: ServerLog): (token: string) => Promise<TokenJudgement> {
  const reports = new Allowance(1, () => performance.now(), 20);
  return async (token) => {
    const judgement = await verifier.judge(token);
    if (judgement.type !== "accepted" && reports.take()) log.warn(`A token was ${judgement.type}: ${judgement.reason}`);
    return judgement;
  };
}
