import type { Policy } from "@gennai/governance/policy";
import { allow, ask } from "@gennai/governance/verdict";

/**
 * A command that the repository chose runs by nobody's word but a person's, even where the same command from the model
 * would run by itself. What was accepted for the session is remembered for exactly this command.
 * @param callIds of the calls that run such a command
 */
export function createCheckPolicy(callIds: ReadonlySet<string>): Policy {
  return {
    name: "project-check",
    kind: "guard",
    decide({ callId }) {
      if (!callIds.has(callId)) return allow;
      return ask({
        code: "check_needs_confirmation",
        rule: "project-check/repository-command",
        reason: "The repository says what this check runs.",
      });
    },
  };
}
