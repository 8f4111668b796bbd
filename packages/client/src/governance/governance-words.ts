import { RiskLevel, Verdict, VerificationState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { Risk } from "../bridge/editor.ts";

/** undefined for a level that this client does not know. */
export function riskWord(risk: RiskLevel | undefined): Risk | undefined {
  switch (risk) {
    case RiskLevel.LOW:
      return "low";
    case RiskLevel.MEDIUM:
      return "medium";
    case RiskLevel.HIGH:
      return "high";
    default:
      return undefined;
  }
}

/** A verdict that this client does not know is read as a refusal. */
export function verdictWord(verdict: Verdict): "allow" | "ask" | "deny" {
  switch (verdict) {
    case Verdict.ALLOW:
      return "allow";
    case Verdict.ASK:
      return "ask";
    default:
      return "deny";
  }
}

/** undefined where the server says nothing about verification. */
export function verificationWord(state: VerificationState): "verified" | "unverified" | "failed" | undefined {
  switch (state) {
    case VerificationState.VERIFIED:
      return "verified";
    case VerificationState.UNVERIFIED:
      return "unverified";
    case VerificationState.FAILED:
      return "failed";
    default:
      return undefined;
  }
}
