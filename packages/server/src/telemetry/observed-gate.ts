import type { DecidedCall } from "@gennai/governance/gate/decide/decided-call";
import type { GateObserver } from "@gennai/governance/gate/decide/gate-observer";
import type { CallOutcome, Decision } from "@gennai/governance/gate-journal";
import type { Attributes } from "@opentelemetry/api";
import type { ModelWatch } from "./observed-model.ts";
import { errorCode } from "./signals/error-code.ts";
import { errorType, genAi } from "./signals/gen-ai.ts";
import { otherName } from "./signals/names.ts";
import { endSpan } from "./signals/tracing.ts";

/** Counts what the gate decides, and makes an `execute_tool` span of each call, refused ones included. */
export function observedGate({ tracing, instruments, names }: Omit<ModelWatch, "scopes">): GateObserver {
  return {
    async decide(run) {
      const began = performance.now();
      const decided = await run();
      const facts = verdictFacts(decided);
      instruments.gateDuration.record((performance.now() - began) / 1000, {
        "gennai.gate.verdict": facts["gennai.gate.verdict"],
      });
      instruments.verdicts.add(1, facts);
      return decided;
    },
    async execute(decision, run) {
      const tool = isInvented(decision) ? otherName : await names.of(decision.call.name);
      const facts: Attributes = { [genAi.operation]: "execute_tool", [genAi.toolName]: tool };
      const span = tracing.start({
        name: `execute_tool ${tool}`,
        attributes: { ...facts, "gennai.gate.verdict": decision.verdict, "gennai.risk": decision.risk },
      });
      const began = performance.now();
      let seen: Attributes = {};
      let error: string | undefined;
      try {
        const outcome = await tracing.below(span, run);
        seen = outcomeFacts(outcome);
        // The code says more than the class: `stale_file` is a `permission_denied`.
        error = outcome.error?.code ?? outcome.failureClass;
        return outcome;
      } catch (thrown) {
        error = errorCode(thrown);
        throw thrown;
      } finally {
        endSpan(span, seen, error);
        instruments.toolDuration.record((performance.now() - began) / 1000, {
          ...facts,
          ...(error === undefined ? {} : { [errorType]: error }),
        });
      }
    },
  };
}

function verdictFacts(decided: DecidedCall) {
  if (decided.type === "invalid") {
    return { "gennai.gate.verdict": "deny", "gennai.risk": "low", "gennai.rule": familyOf(decided.error.rule) };
  }
  const { verdict, risk } = decided;
  return {
    "gennai.gate.verdict": verdict.type,
    "gennai.risk": risk,
    "gennai.rule": verdict.type === "allow" ? "" : familyOf(verdict.finding.rule),
  };
}

/** Rules of files quote their patterns in their names, and there may be hundreds: the family tells which layer spoke. */
function familyOf(rule: string | undefined): string {
  const [, family] = /^([a-z][a-z-]{0,30})(?:\/|$)/.exec(rule ?? "") ?? [];
  return family ?? otherName;
}

/** A tool of a name that only the model knows. */
function isInvented({ rule, verdict }: Decision): boolean {
  return verdict === "deny" && rule === "gate/registry";
}

function outcomeFacts({ outcome, verification, failureClass }: CallOutcome): Attributes {
  return {
    "gennai.tool.refused": outcome === undefined,
    "gennai.tool.verification": verification.state,
    ...(outcome?.exitCode === undefined ? {} : { "gennai.tool.exit_code": outcome.exitCode }),
    ...(failureClass === undefined ? {} : { "gennai.tool.failure_class": failureClass }),
  };
}
